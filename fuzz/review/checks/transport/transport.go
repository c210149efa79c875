// Package transport has the checks of HTTP and JSON-RPC, of credentials, and of standard streams.
package transport

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of HTTP and of credentials, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(headerChecks, ambiguousChecks, verbChecks, originChecks, negotiationChecks, bodyChecks, listChecks,
		disclosureChecks, credentialChecks, impersonationChecks, metadataChecks)
}

// LastChecks returns the checks of long calls and standard streams, which may stop the server. They
// run after the checks of other families.
func LastChecks() []review.Check {
	return slices.Concat(longCallChecks, largeRequestChecks, outputChecks, lineChecks, processChecks)
}

// ResponseChecks returns the checks of all answers, which run after those of sessions.
func ResponseChecks() []review.Check { return responseChecks }
