package review

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/internal/rawmcp"
)

const lifecycle = "revision 2025-11-25, basic/lifecycle"
const oldTransport = "revision 2025-11-25, basic/transports"

// sessions are the checks of the revisions 2025-11-25, 2025-06-18 and 2025-03-26
// over HTTP. A server that does not know them is not tested.
var sessions = []Check{
	{ID: "S-NEG", Name: "the negotiation of a revision", Over: "http", Era: "legacy", Severity: Warning, Category: "transport",
		Sent: "initialize with the revisions from 2024-11-05 to 2025-11-25, 1999-01-01, 2025-07-01 and 2099-01-01", Want: "the same revision, or another that the server supports", Source: lifecycle, Impact: "client and server speak different protocols", Fix: "answer with a revision of the list of those supported", Run: negotiation},
	{ID: "S-202", Name: "the answer to a notification or a response", Over: "http", Era: "legacy", Severity: Warning, Category: "transport",
		Sent: "the notifications of clients, and a response that nobody asked for", Want: "status 202 without a body, or an error status", Source: oldTransport, Impact: "clients wait for what does not come", Fix: "answer 202 without a body", Run: oldNotification},
	{ID: "S-ID", Name: "the ids of sessions", Over: "http", Era: "legacy", Severity: Warning, Category: "security",
		Sent: "eight times initialize", Want: "different ids of visible ASCII, at least 16 characters, that no counter, time or user gives", Source: oldTransport, Impact: "ids can be guessed", Fix: "draw 16 random bytes for each id", Run: sessionIDs},
	{ID: "S-MISSING", Name: "no session, and a made-up one", Over: "http", Era: "legacy", Severity: Warning, Category: "security",
		Sent: "tools/list without a session, with ids that the server did not give, with parts and other spellings of one that it gave, with two, and with one in the URL or in a cookie; GET with a made-up one", Want: "400 and 404, and no id of a session", Source: oldTransport, Impact: "any id is a session", Fix: "look the id up and answer 404", Run: noSession},
	{ID: "S-END", Name: "a session that was ended", Over: "http", Era: "legacy", Severity: Warning, Category: "security",
		Sent: "DELETE, then tools/list, a call of an unknown tool and GET", Want: "405, or 404 afterwards", Source: oldTransport, Impact: "a session cannot be ended", Fix: "forget the id on DELETE", Run: ended},
	{ID: "S-VER", Name: "an unknown revision in a session", Over: "http", Era: "legacy", Severity: Critical, Category: "transport",
		Sent: "tools/list with MCP-Protocol-Version 1999-01-01", Want: "status 400", Source: oldTransport, Impact: "client and server speak different protocols", Fix: "compare the header with those supported", Run: sessionVersion},
	{ID: "S-BATCH", Name: "several requests in one body", Over: "http", Era: "legacy", Severity: Warning, Category: "transport",
		Sent: "an array of two requests in a session of 2025-06-18", Want: "refused", Source: "revision 2025-06-18, key changes", Impact: "headers describe one request and others come with it", Fix: "refuse arrays from 2025-06-18 on", Run: sessionBatch},
	{ID: "S-GET", Name: "a stream without a session", Over: "http", Era: "legacy", Severity: Suggestion, Category: "transport",
		Sent: "GET that accepts JSON alone, and GET without a session", Want: "405, 406 or 400", Source: oldTransport, Impact: "a stream is opened that belongs to nobody", Fix: "require Accept and the session", Run: sessionGet},
	{ID: "S-HIJACK", Name: "the session of another user", Over: "http", Era: "legacy", Severity: Critical, Category: "security",
		Sent: "tools/list, a call of an unknown tool, GET and DELETE in a session of the first user with the credentials of the second, and without any", Want: "401, 403 or 404", Source: oldTransport + ", security best practices", Impact: "whoever learns an id acts as its owner", Fix: "bind the session to the user and compare", Run: hijacked},
	{ID: "S-ORIGIN", Name: "a foreign Origin in older revisions", Over: "http", Era: "legacy", Severity: Warning, Category: "security",
		Sent: "initialize with Origin https://evil.example; in a session tools/list with it and with null, and GET", Want: "status 403", Source: oldTransport + ", MUST validate Origin", Impact: "a page of any site opens a session", Fix: "refuse requests whose Origin is not allowed; the SDK has an option for it", Run: sessionOrigin},
	{ID: "S-REINIT", Name: "initialize in a session", Over: "http", Era: "legacy", Severity: Suggestion, Category: "transport",
		Sent: "initialize with the id of a session", Want: "an error, or an answer", Source: lifecycle, Impact: "the session breaks", Fix: "answer with an error", Run: initializedAgain},
	{ID: "RS-DOWN", Name: "a state in an older revision", Over: "http", Era: "legacy", Severity: Critical, Category: "security",
		Sent: "in a session of 2025-11-25, a call of a tool that asks first, with a readable state of its own", Want: "refused or ignored, never taken unverified", Source: mrtr,
		Impact: "the protection is passed by speaking an older revision", Fix: "verify the state in every revision, or drop it in those that do not know it", Run: downgraded},
}

// open opens a session as a user.
func (t *T) open(version string, as user) (session, bool) {
	a := t.r.client.initialize(t.ctx, version, as)
	if a.Kind != completed {
		t.skip("initialize %s: %v", version, a)
		return session{}, false
	}
	t.trials++
	return t.r.client.initialized(t.ctx, a, as), true
}

// inSession sends a body in a session.
func (t *T) inSession(s session, as user, body string) Answer {
	return t.r.client.rawCall(t.ctx, t.r.client.sessionHeaders(s, as), []byte(body))
}

// oldList is tools/list with the next id.
func (t *T) oldList() string {
	t.r.client.id++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}`, t.r.client.id)
}

// opened returns a session in which an honest request is answered.
func (t *T) opened() (session, bool) {
	s, ok := t.open(older, first)
	if !ok {
		return s, false
	}
	if a := t.inSession(s, first, t.oldList()); a.Kind != completed {
		t.skip("control: tools/list in a session: %v", a)
		return s, false
	}
	return s, true
}

func negotiation(t *T) {
	known := map[string]bool{}
	for _, v := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		a := t.r.client.initialize(t.ctx, v, first)
		if a.Kind == completed {
			known[versionOf(a)] = true
		}
		t.trials++
	}
	if len(known) == 0 {
		t.skip("initialize is not answered: the server speaks no older revision")
		return
	}
	for _, v := range []string{"1999-01-01", "2025-07-01", "2099-01-01"} {
		a := t.r.client.initialize(t.ctx, v, first)
		if got := versionOf(a); a.Kind == completed && !known[got] && got != modern {
			t.refute(Finding{Case: v, Severity: Warning, Issue: fmt.Sprintf("initialize %s is answered by revision %s", v, short(got, 30)), Evidence: sent(a.Exchange) + " -> " + short(string(a.Result), 200), Want: "a supported revision", Got: got, Revision: older})
		}
	}
}

func versionOf(a Answer) string {
	var v string
	_ = json.Unmarshal(members(a.Result)["protocolVersion"], &v)
	return v
}

// unanswered are messages that get no answer.
var unanswered = map[string]string{
	"a notification": initialized, "a response": `{"jsonrpc":"2.0","id":99999,"result":{}}`,
	"notifications/roots/list_changed": `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	"notifications/progress":           `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"sealab-none","progress":1}}`,
	"notifications/cancelled":          `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sealab-none"}}`,
}

func oldNotification(t *T) {
	s, ok := t.opened()
	if !ok {
		return
	}
	for name, body := range unanswered {
		a := t.inSession(s, first, body)
		t.trials++
		if a.Exchange != nil && a.Status/100 == 2 && (a.Status != 202 || len(strings.TrimSpace(string(a.Exchange.Body))) > 0 && string(a.Exchange.Body) != "null") {
			t.refute(Finding{Case: name, Severity: Warning, Issue: fmt.Sprintf("%s is answered with status %d and %d bytes", name, a.Status, len(a.Exchange.Body)), Evidence: sent(a.Exchange) + " -> " + short(string(a.Exchange.Body), 100), Want: "202 without a body", Got: fmt.Sprint(a.Status), Revision: older})
		}
	}
}

// keeping returns a session with an id, or skips the check.
func (t *T) keeping() (session, bool) {
	s, ok := t.opened()
	if ok && s.id == "" {
		t.skip("the server keeps no sessions")
		return s, false
	}
	return s, ok
}

func sessionVersion(t *T) {
	s, ok := t.opened()
	if !ok {
		return
	}
	s.version = "1999-01-01"
	a := t.inSession(s, first, t.oldList())
	t.trials++
	if a.Kind == completed {
		t.refute(Finding{Case: "1999-01-01", Severity: Critical, Issue: "a request of revision 1999-01-01 is served", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "400", Got: "served", Revision: older})
	}
}

func sessionBatch(t *T) {
	s, ok := t.open("2025-06-18", first)
	if !ok {
		return
	}
	if s.version != "2025-06-18" {
		t.skip("the server answers revision %s", s.version)
		return
	}
	one := t.oldList()
	a := t.inSession(s, first, "["+one+","+t.oldList()+"]")
	t.trials++
	if a.Status == 200 && a.Exchange != nil && strings.Contains(string(a.Exchange.Body), `"tools"`) {
		t.refute(Finding{Case: "two requests", Severity: Warning, Issue: "an array of requests is served", Evidence: sent(a.Exchange) + " -> " + short(string(a.Exchange.Body), 150), Want: "refused", Got: "served", Revision: "2025-06-18"})
	}
}

func sessionGet(t *T) {
	s, ok := t.opened()
	if !ok {
		return
	}
	for _, c := range []struct {
		name, accept string
		id           string
	}{{"Accept application/json", "application/json", s.id}, {"no session", "text/event-stream", ""}} {
		if c.name == "no session" && s.id == "" {
			continue
		}
		other := s
		other.id = c.id
		w := &wire{headers: t.r.client.sessionHeaders(other, first)}
		w.set("Accept", c.accept)
		w.drop("Content-Type")
		e := t.r.client.raw(t.ctx, rawmcp.Request{Verb: "GET", Path: t.r.client.http.Path(), Headers: w.headers, Head: true})
		t.trials++
		if e.Status == 200 {
			t.refute(Finding{Case: c.name, Severity: Suggestion, Issue: "GET with " + c.name + " opens a stream", Evidence: sent(e) + " -> status 200", Want: "405, 406 or 400", Got: "200", Revision: older})
		}
	}
}

func initializedAgain(t *T) {
	s, ok := t.keeping()
	if !ok {
		return
	}
	w := &wire{headers: t.r.client.sessionHeaders(s, first), id: t.r.client.id + 1}
	t.r.client.id++
	t.initializing(w, older)
	a := t.r.client.rawCall(t.ctx, append(w.headers, rawmcp.Header{Name: "MCP-Protocol-Version", Value: s.version}, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.id}), w.body)
	t.trials++
	if a.Kind == broken {
		t.refute(Finding{Case: "again", Severity: Suggestion, Issue: "initialize in a session gets no answer", Evidence: a.String(), Want: "an error or an answer", Got: "broken", Revision: older})
	}
}

// downgraded presents a changed state in an older revision. A server that acts on
// it shows the changed value in its answer.
func downgraded(t *T) {
	f, ok := t.askingTool()
	if !ok {
		return
	}
	s, ok := t.opened()
	if !ok {
		return
	}
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	const probe = "sealabdowngradeprobe"
	for _, v := range views(token) {
		for _, name := range sortedKeys(v.object) {
			var text string
			if json.Unmarshal(v.object[name], &text) != nil || strings.Contains(strings.ToLower(name), "step") {
				continue
			}
			t.r.client.id++
			state := v.write(token, object(with(v.object, name, quote(probe))))
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s,"requestState":%s}}`, t.r.client.id, quote(f.Target), f.Arguments, quote(state))
			a := t.inSession(s, first, body)
			t.trials++
			if (a.Kind == completed || a.Kind == asked || a.pushes()) && a.contains(probe) {
				t.refute(Finding{Case: name, Severity: Critical, Issue: "a changed state is taken unverified in revision " + older, Evidence: short(body, 300) + " -> " + a.String(), Want: "ignored", Got: "taken", Revision: older})
				return
			}
		}
	}
	if t.trials == 0 {
		t.skip("the state cannot be read, so that no changed value can be looked for")
	}
}
