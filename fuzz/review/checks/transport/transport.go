// Package transport has the checks of HTTP and JSON-RPC, of credentials, of sessions of older
// revisions, and of standard streams.
package transport

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of HTTP and of credentials, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(header, reaching, negotiating, bodies, results, disclosures, credentials, impersonating, resourceMetadata)
}

// LastChecks returns the checks of long calls, standard streams and sessions, which may stop the
// server, and the checks of all answers. They run after the checks of other families.
func LastChecks() []review.Check {
	return slices.Concat(limits, capacity, streams, sessions, pushing, seen)
}
