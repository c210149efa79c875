// Package checks lists the checks of a review and writes their documentation. It also runs the
// checks that need only tokens on recorded traffic.
package checks

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks/answers"
	"sealab/fuzz/review/checks/binding"
	"sealab/fuzz/review/checks/contents"
	"sealab/fuzz/review/checks/forgery"
	"sealab/fuzz/review/checks/injections"
	"sealab/fuzz/review/checks/isolation"
	"sealab/fuzz/review/checks/numbers"
	"sealab/fuzz/review/checks/offers"
	"sealab/fuzz/review/checks/progress"
	"sealab/fuzz/review/checks/refusals"
	"sealab/fuzz/review/checks/replays"
	"sealab/fuzz/review/checks/sessions"
	"sealab/fuzz/review/checks/transport"
)

// All returns every check, in the order in which they run.
func All() []review.Check {
	return slices.Concat(forgery.Checks(), contents.URLChecks(), forgery.EncodingChecks(), binding.Checks(), replays.InstanceChecks(), refusals.Checks(),
		contents.Checks(), answers.Checks(), refusals.LaterChecks(), replays.Checks(),
		transport.Checks(), offers.Checks(), injections.Checks(), numbers.Checks(), offers.LaterChecks(), progress.Checks(), isolation.Checks(),
		answers.LastChecks(), transport.LastChecks(), sessions.Checks(), transport.ResponseChecks(), isolation.LastChecks(), binding.LastChecks(), offers.LastChecks())
}

// familyTitles are the families of checks, in the order of the documentation.
var familyTitles = []struct{ letters, title string }{
	{"RS", "requestState (revision 2026-07-28; RS-DOWN: older revisions)"},
	{"H", "HTTP and JSON-RPC (revision 2026-07-28)"},
	{"A", "Authorization"}, {"X", "Long calls and large requests"},
	{"T", "Tools"}, {"R", "Resources"}, {"P", "Prompts"}, {"C", "Completions"}, {"L", "Subscriptions"},
	{"IO", "Standard input and output"},
	{"S", "Sessions of the revisions 2025-11-25, 2025-06-18 and 2025-03-26"},
}

// terms define the words of the documentation that the specification does not define.
var terms = [][2]string{
	{"question", "a result with resultType input_required, by which a call asks the client for input"},
	{"answers", "the member inputResponses of the request that follows a question"},
	{"state, token", "the value of requestState in a question; a token is fresh if no request has presented it, and readable if it " +
		"can be decoded without a key"},
	{"to present a token", "to repeat the call with this requestState and, with --effects, the answers"},
	{"flow", "a call and its rounds up to the result; a round is one question and the request that answers it"},
	{"branch", "a way through the questions of a flow with another listed value in an earlier answer; with --effects the checks RS run again in each, but for those of time, restarts and connections, as long as a quarter of the exchanges is left and a quarter of the time is not over"},
	{"tool that asks", "a tool whose call is answered by a question"},
	{"read-only tool", "a tool with the annotation readOnlyHint"},
	{"first user, second user", "the users with the credentials of --header and of --second"},
	{"made-up", "invented by the review and unknown to the server"},
	{"garbage", "a text that the server did not mint"},
}

// Page returns the documentation of all checks in Markdown.
func Page() []byte {
	var b strings.Builder
	b.WriteString("# The checks of `sealab review`\n\nGenerated from the table of checks: `go test ./fuzz/review -run TestPage -args -write`.\n")
	b.WriteString("\n## Terms\n\n")
	for _, x := range terms {
		fmt.Fprintf(&b, "- %s: %s\n", x[0], x[1])
	}
	for _, f := range familyTitles {
		fmt.Fprintf(&b, "\n## %s: %s\n", f.letters, f.title)
		for _, c := range All() {
			if c.Family() == f.letters {
				b.Write(c.Page())
			}
		}
	}
	return []byte(b.String())
}
