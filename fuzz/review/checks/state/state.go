// Package state has the checks of requestState (revision 2026-07-28,
// basic/patterns/mrtr): forging, binding, replay, expiry, and what a token and a refusal tell.
package state

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of requestState, in the order in which they are carried out.
func Checks() []review.Check {
	return slices.Concat(forging, guessing, spelling, binding, instances, refusing, reading, rounds, lasting)
}
