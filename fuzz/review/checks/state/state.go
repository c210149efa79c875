// Package state has the checks of requestState (revision 2026-07-28, basic/patterns/mrtr). They
// cover forging, binding, replay, expiry, and the information in tokens and refusals.
package state

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of requestState, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(forgeryChecks, guessingChecks, encodingChecks, bindingChecks, instanceChecks, refusalChecks, contentChecks, protocolChecks, lifetimeChecks)
}
