// Package offers has the checks of the tools, prompts and resources that a server offers.
package offers

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of tools, prompts and resources, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(toolChecks, resourceChecks, fetchChecks, valueChecks, inputChecks, injectionChecks, numberChecks, promptChecks)
}
