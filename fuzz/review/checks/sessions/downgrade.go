package sessions

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// downgradeChecks are the checks of a session that is opened again, and of states in it.
var downgradeChecks = []review.Check{
	{
		ID: "S-REINIT", Name: "a second initialize in a session", Over: "http", Era: "legacy", Severity: review.Suggestion, Category: "transport",
		Sent:   "initialize with the id of a session",
		Want:   "answers with a result or an error",
		Source: lifecycleSpec,
		Impact: "the client waits, and its session breaks",
		Fix:    "answer an error",
		Run:    checkSecondInitialize,
	},
	{
		ID: "RS-DOWN", Name: "a state in a session of an older revision", Once: true, Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "in a session of 2025-11-25 a call of a tool that asks, with requestState set to a readable token " +
			"with changed values; with --effects also inputResponses, and the call alone, in sessions with and " +
			"without the capability elicitation",
		Want: "ignores or refuses the state; never uses it unverified; asks for the same confirmation, or refuses " +
			"the call",
		Source: review.SourceMRTR,
		Impact: "a client avoids the verification of the state, or the question, by using an older revision",
		Fix: "verify the state in every revision, or ignore it in revisions that do not define it; ask with " +
			"elicitation/create there, or refuse the call",
		Run: checkDowngrade,
	},
}

func checkSecondInitialize(t *review.T) {
	s, ok := openSessionWithID(t)
	if !ok {
		return
	}
	w := &client.Request{Headers: t.Client.SessionHeaders(s, client.FirstUser), ID: t.Client.ID + 1}
	t.Client.ID++
	t.Initializing(w, client.Older)
	a := t.Tried(t.Client.RawCall(t.Context, append(w.Headers, rawmcp.Header{Name: "MCP-Protocol-Version", Value: s.Version}, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.ID}), w.Body))
	if a.Kind == client.Broken {
		t.Refute(review.Finding{Case: "again", Severity: review.Suggestion, Issue: "initialize in a session gets no answer",
			Evidence: a.String(), Want: "an error or an answer", Got: "broken"})
	}
}

func checkDowngrade(t *review.T) {
	if presentChangedStates(t); len(t.Findings) == 0 {
		callUnasked(t)
	}
}

// presentChangedStates presents a changed state in an older revision. The answer contains the changed
// value if the server uses the state.
func presentChangedStates(t *review.T) {
	f, ok := t.AskingTool()
	if !ok {
		return
	}
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	const probe = "sealabdowngradeprobe"
	answers := ""
	if t.Options.Effects && f.Last != nil {
		answers = `,"inputResponses":` + string(f.Last)
	}
	for _, v := range tokens.Views(token) {
		changed := jsondoc.WithTexts(v.Object, probe)
		for _, name := range jsondoc.SortedKeys(changed) {
			if strings.Contains(strings.ToLower(name), "step") {
				continue
			}
			body := t.Client.SessionBody("tools/call", fmt.Sprintf(`"name":%s,"arguments":%s,"requestState":%s%s`,
				jsondoc.Quote(f.Target), f.Arguments, jsondoc.Quote(v.Write(token, changed[name])), answers))
			a := t.Tried(inSession(t, s, client.FirstUser, body))
			if (a.Succeeded() || a.Pushes()) && a.Contains(probe) {
				t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a changed state is accepted without verification in revision " + client.Older,
					Evidence: client.Short(body, 300) + " -> " + a.String(), Want: "ignored", Got: "taken"})
				return
			}
		}
	}
	t.SkipUntried("the state cannot be read, so that no changed value can be looked for")
}
