// Package offers has the checks of the tools, prompts and resources that a server offers.
package offers

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of tools and resources, and of values in them, in the order in which they
// run.
func Checks() []review.Check {
	return slices.Concat(toolChecks, resourceChecks, fetchChecks, valueChecks, inputChecks)
}

// LaterChecks returns the checks of prompts, in the order in which they run.
func LaterChecks() []review.Check { return promptChecks }
