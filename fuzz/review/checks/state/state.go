// Package state has the checks of requestState (revision 2026-07-28, basic/patterns/mrtr). They
// cover replay, expiry and refusals.
package state

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of requestState, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(instanceChecks, refusalChecks)
}

// LaterChecks returns the checks of the length and the lifetime of states, which run after those of
// answers.
func LaterChecks() []review.Check { return slices.Concat(sizeChecks, lifetimeChecks) }
