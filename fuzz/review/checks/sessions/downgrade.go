package sessions

import (
	"encoding/json"
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

// An olderClient is a client of an older revision, and the same one in the newest revision.
type olderClient struct {
	name         string
	capabilities json.RawMessage
	open         func(t *review.T) (client.Session, bool)
}

var olderClients = []olderClient{
	{"a client that can be asked", nil, openLiveSession},
	{"a client that cannot be asked", json.RawMessage("{}"), openUnableSession},
}

// openUnableSession returns a session of a client without capabilities.
func openUnableSession(t *review.T) (client.Session, bool) {
	a := t.Send(t.InitializeRequest(client.Older))
	if a.Kind != client.Completed {
		t.Skip("initialize without capabilities: %v", a)
		return client.Session{}, false
	}
	return t.Client.FinishHandshake(t.Context, a, client.FirstUser), true
}

// callUnasked calls tools that ask for a confirmation in the newest revision, in sessions of an older
// one. It records a finding if the session carries the call out without a question. A question is
// declined.
func callUnasked(t *review.T) {
	if !t.Options.Effects || !t.Modern() {
		return
	}
	for _, o := range t.Oracles {
		if o.Flow.Method != "tools/call" {
			continue
		}
		for _, x := range olderClients {
			name := o.Flow.Target + ", " + x.name
			if !t.Selected(name) || !x.isAsked(t, o.Flow) {
				continue
			}
			evidence := x.sameResult(t, o)
			if evidence == "" {
				evidence = x.lastingEffect(t, o)
			}
			if evidence != "" {
				t.Refute(review.Finding{Case: name, Severity: review.Critical, Flow: &o.Flow,
					Issue:    fmt.Sprintf("%s asks in the newest revision, and is carried out without a question for %s in revision %s", o.Flow.Target, x.name, client.Older),
					Evidence: evidence, Want: "a question or a refusal", Got: "carried out"})
				return
			}
		}
	}
}

// isAsked reports whether a call of the client in the newest revision is asked about or refused. A
// server may do without a question for a client that it cannot ask.
func (x olderClient) isAsked(t *review.T, f client.Flow) bool {
	call := f.Call(client.FirstUser)
	call.Capabilities = x.capabilities
	a := t.Call(call)
	return a.Conclusive() && a.Kind != client.Completed
}

// call calls the tool of a flow in a new session. It returns false if there is a question or no
// completion.
func (x olderClient) call(t *review.T, f client.Flow) (client.Answer, bool) {
	s, ok := x.open(t)
	if !ok {
		return client.Answer{}, false
	}
	a, status := callAndReply(t, askingCallIn(t, s, f), func(x askingCall, id, _ json.RawMessage) int {
		return respond(t, x.session, client.FirstUser, id, "decline", nil)
	})
	return a, status == 0 && a.Kind == client.Completed && !a.Pushes()
}

// sameResult returns evidence that the result in a session is that of an accepted confirmation,
// twice, and that a confirmation that is not given has another one.
func (x olderClient) sameResult(t *review.T, o *review.Oracle) string {
	if !o.Completes() || o.Mask == nil {
		return ""
	}
	f := unconfirmed(o.Flow)
	if f == nil {
		return ""
	}
	if no := t.Fresh(*f, o.User); !no.Conclusive() || o.Alike(no) {
		return ""
	}
	var a client.Answer
	for range 2 {
		var ok bool
		if a, ok = x.call(t, o.Flow); !ok || !o.Alike(a) && !o.ResemblesGood(a) {
			return ""
		}
	}
	return fmt.Sprintf("asked and accepted in the newest revision: %v; in a session, without a question: %v", o.Good, a)
}

// unconfirmed returns a flow whose first confirmation is answered with no. It returns nil if no
// question is one. A question is a confirmation if all that its answer says is yes.
func unconfirmed(f client.Flow) *client.Flow {
	for _, stage := range f.Stages() {
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(stage.Last)) {
			content := f.Content(len(stage.Rounds), key)
			names := jsondoc.SortedKeys(content)
			switch {
			case len(names) == 0:
				declined, reason := review.WithAction(stage.Last, "decline", false)
				if stage.Last = declined; reason == "" {
					return &stage
				}
			case len(names) == 1 && string(content[names[0]]) == "true":
				no := stage.WithAnswer(len(stage.Rounds), key, names[0], json.RawMessage("false"))
				return &no
			}
		}
	}
	return nil
}

// lastingEffect returns evidence that a call in a session has an effect: the newest revision asks
// about it before, and afterwards answers as about other arguments that are used up.
func (x olderClient) lastingEffect(t *review.T, o *review.Oracle) string {
	if o.Flow.Last != nil || o.Flow.Other == nil {
		return ""
	}
	var ends []string
	evidence := ""
	for _, arguments := range []json.RawMessage{o.Flow.Arguments, o.Flow.Other} {
		f := o.Flow.With(arguments)
		if asksAgain(t, f) {
			a, ok := x.call(t, f)
			if !ok {
				return ""
			}
			evidence = fmt.Sprintf("%s: asked in the newest revision; in a session, without a question: %v", arguments, a)
		}
		end := t.Call(f.Call(client.FirstUser))
		if !end.Conclusive() || end.Kind == client.Asked {
			return ""
		}
		ends = append(ends, withoutTexts(end.Refusal()+end.Text, arguments))
	}
	if evidence == "" || ends[0] != ends[1] {
		return ""
	}
	return evidence + "; then in the newest revision: " + ends[0]
}

// asksAgain reports whether a call is asked about every time.
func asksAgain(t *review.T, f client.Flow) bool {
	for range 3 {
		if t.Call(f.Call(client.FirstUser)).Kind != client.Asked {
			return false
		}
	}
	return true
}

// withoutTexts removes the texts of arguments from a text.
func withoutTexts(text string, arguments json.RawMessage) string {
	for _, raw := range jsondoc.Members(arguments) {
		if value, ok := jsondoc.Text(raw); ok && value != "" {
			text = strings.ReplaceAll(text, value, "")
		}
	}
	return text
}
