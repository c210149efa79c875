// Package answers has the checks of questions and answers (revision 2026-07-28,
// basic/patterns/mrtr). They cover declines, answers that a form excludes, additional answers,
// answers of other rounds, and questions that a client does not support.
package answers

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of questions and answers, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(roundChecks, declineChecks, earlyChecks, formChecks)
}
