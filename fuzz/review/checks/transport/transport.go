// Package transport has the checks of HTTP and JSON-RPC, of credentials, of sessions of the
// older revisions, and of standard streams.
package transport

import (
	"slices"

	"sealab/fuzz/review"
)

// Checks returns the checks of HTTP and of credentials, in the order in which they
// are carried out.
func Checks() []review.Check {
	return slices.Concat(header, reaching, negotiating, bodies, results, disclosures, credentials, impersonating, resourceMetadata)
}

// LastChecks returns the checks of long calls, standard streams and sessions, which may end
// the server, and those of all answers of a review. They come after the checks of the other families.
func LastChecks() []review.Check {
	return slices.Concat(limits, capacity, streams, sessions, pushing, seen)
}
