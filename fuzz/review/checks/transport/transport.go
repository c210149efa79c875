// Package transport has the checks of HTTP and JSON-RPC, of credentials, of sessions of older
// revisions, and of standard streams.
package transport

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of HTTP and of credentials, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(headerChecks, originChecks, negotiationChecks, bodyChecks, listChecks, disclosureChecks, credentialChecks, impersonationChecks, metadataChecks)
}

// LastChecks returns the checks of long calls, standard streams and sessions, which may stop the
// server, and the checks of all answers. They run after the checks of other families.
func LastChecks() []review.Check {
	return slices.Concat(longCallChecks, largeRequestChecks, stdioChecks, sessionChecks, sessionStreamChecks, taskChecks, responseChecks)
}
