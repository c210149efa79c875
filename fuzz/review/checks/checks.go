// Package checks lists the checks of a review and writes their documentation. It also runs the
// checks that need only tokens on recorded traffic.
package checks

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks/offers"
	"sealab/fuzz/review/checks/state"
	"sealab/fuzz/review/checks/transport"
)

// All returns every check, in the order in which they run.
func All() []review.Check {
	return slices.Concat(state.Checks(), transport.Checks(), offers.Checks(), transport.LastChecks())
}

// families are the families of checks, in the order of the documentation.
var families = []struct{ letters, title string }{
	{"RS", "requestState (revision 2026-07-28; RS-DOWN: older revisions)"},
	{"H", "HTTP and JSON-RPC (revision 2026-07-28)"},
	{"A", "Authorization"}, {"X", "Long calls and large requests"},
	{"T", "Tools"}, {"R", "Resources"}, {"P", "Prompts"}, {"C", "Completions"}, {"L", "Subscriptions"},
	{"IO", "Standard input and output"},
	{"S", "Sessions of the revisions 2025-11-25, 2025-06-18 and 2025-03-26"},
}

// Page returns the documentation of all checks in Markdown.
func Page() []byte {
	var b strings.Builder
	b.WriteString("# The checks of `sealab review`\n\nGenerated from the table of checks: `go test ./fuzz/review -run TestPage -args -write`.\n")
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s: %s\n", f.letters, f.title)
		for _, c := range All() {
			if c.Family() == f.letters {
				b.Write(c.Page())
			}
		}
	}
	return []byte(b.String())
}
