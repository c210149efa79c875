package review

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// rounds are the checks of the protocol around a state.
var rounds = []Check{
	{ID: "RS-CAP", Name: "a question to a client that cannot answer", Flow: true, Severity: Warning, Category: "reliability",
		Sent: "the call with clientCapabilities {} and with elicitation of URLs alone", Want: "error -32021 that names the capability, or no question",
		Source: "revision 2026-07-28, basic, client capabilities", Impact: "the client gets a question that it cannot put to anybody, and the flow ends there",
		Fix: "look at clientCapabilities before asking, and answer -32021 with requiredCapabilities", Run: capability},
	{ID: "RS-ASKAGAIN", Name: "a state without answers", Flow: true, Severity: Suggestion, Category: "reliability",
		Sent: "a good token without inputResponses and with {}", Want: "the same question", Source: mrtr,
		Impact: "a client that lost an answer cannot go on", Fix: "ask again if an answer is missing", Timed: true, Run: askAgain},
	{ID: "RS-EXTRA", Name: "an answer that was not asked for", Flow: true, Severity: Suggestion, Category: "reliability",
		Sent: "a good token with one more answer", Want: "ignored", Source: mrtr, Impact: "a client that sends more is refused", Fix: "ignore unknown keys of inputResponses", Timed: true, Run: extraAnswer},
	{ID: "RS-WHERE", Name: "a state where none belongs", Flow: true, Severity: Suggestion, Category: "schema",
		Sent: "tools/list with a requestState", Want: "the list", Source: mrtr, Impact: "a list asks for input, or is refused", Fix: "ignore requestState outside tools/call, prompts/get and resources/read", Run: where},
	{ID: "RS-DECLINE", Name: "a refusal of the user that is carried out", Flow: true, Effects: true, Severity: Critical, Category: "security",
		Sent: "decline, cancel, decline with the content of an acceptance, an unknown action; an acceptance under another key", Want: "no effect of an acceptance", Source: "revision 2026-07-28, client/elicitation",
		Impact: "the tool runs although the user said no", Fix: "look at action before content", Run: decline},
	{ID: "RS-FORM", Name: "an answer that its form does not allow", Flow: true, Effects: true, Severity: Critical, Category: "schema",
		Sent: "answers of another type, and with members that are named as the arguments", Want: "asked again, or -32602; other members ignored", Source: mrtr + ", SHOULD validate",
		Impact: "the handler works on values that its form excludes", Fix: "validate answers against the form that was sent", Run: wrongForm},
	{ID: "RS-SIZE", Name: "a state that is too long", Flow: true, Severity: Warning, Category: "reliability",
		Sent: "states of 16 KiB and 60 KiB; with --effects 1 MB, 4 MB, a million full stops, a token and a million line feeds", Want: "refused, and the server goes on to answer",
		Source: "RFC 9110, section 15.5.14", Impact: "one request stops the server", Fix: "bound the length of a state before it is decoded", Run: sizes},
	{ID: "RS-TAKEBACK", Name: "a state that its own server refuses", Flow: true, Severity: Warning, Category: "reliability",
		Sent: "calls with longer and longer arguments; each token is presented at once", Want: "accepted, or not minted", Source: mrtr,
		Impact: "a flow with a long argument can never be finished", Fix: "refuse to mint a token that is longer than what is accepted back; keep large states on the server", Timed: true, Run: takeBack},
}

func capability(t *T) {
	for _, declared := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		if len(t.o.fresh.Questions) == 0 {
			t.skip("the first question asks for no input")
			return
		}
		if declared != "{}" && !t.formsOnly() {
			continue
		}
		call := t.o.flow.call(t.o.user)
		call.Capabilities = json.RawMessage(declared)
		a := t.r.client.call(t.ctx, call)
		if !a.conclusive() {
			t.skip("%v", a)
			return
		}
		t.seen(variant{name: declared}, a)
		if a.Kind == asked && len(a.Questions) > 0 {
			t.refute(Finding{Case: declared, Severity: Warning, Issue: "a client that declares " + declared + " is asked", Evidence: fmt.Sprintf("%s -> %v", sent(a.Exchange), a), Want: "-32021", Got: "asked"})
			return
		}
	}
}

// formsOnly reports whether the first question is made of forms.
func (t *T) formsOnly() bool {
	for _, q := range t.o.fresh.Questions {
		if q.Method != "elicitation/create" || q.Params.Mode == "url" {
			return false
		}
	}
	return true
}

func askAgain(t *T) {
	if len(t.o.fresh.Questions) == 0 {
		t.skip("the question asks for no input")
		return
	}
	f := t.o.flow
	f.Last = nil
	for _, answers := range []json.RawMessage{nil, json.RawMessage("{}")} {
		token, question, err := t.r.client.mint(t.ctx, f, t.o.user)
		if err != nil {
			t.skip("%v", err)
			return
		}
		f.Last = answers
		a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
		if !a.conclusive() {
			t.skip("%v", a)
			return
		}
		t.seen(variant{name: "no answers"}, a)
		if a.Kind == asked {
			continue
		}
		t.refute(Finding{Case: "answers " + string(answers), Severity: Suggestion, Issue: "a good token without answers is not asked again", Evidence: fmt.Sprintf("after %v: %v", question, a), Want: "asked", Got: string(a.Kind)})
		return
	}
}

func extraAnswer(t *T) {
	m := members(t.o.flow.Last)
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	f := t.o.flow
	f.Last = object(with(m, "sealab-extra", json.RawMessage(`{"action":"accept","content":{"probe":true}}`)))
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	if !a.conclusive() {
		t.skip("%v", a)
		return
	}
	t.seen(variant{name: "one more"}, a)
	if a.refused() {
		t.refute(Finding{Case: "one more", Severity: Suggestion, Issue: "an answer that was not asked for is refused", Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "ignored", Got: "refused"})
	}
}

func where(t *T) {
	if len(t.r.Report.Server.Tools) == 0 {
		t.skip("the server lists no tools")
		return
	}
	a := t.r.client.call(t.ctx, Call{Method: "tools/list", State: quote(garbageState)})
	if !a.conclusive() {
		t.skip("%v", a)
		return
	}
	t.seen(variant{name: "tools/list"}, a)
	if a.Kind != completed {
		t.refute(Finding{Case: "tools/list", Severity: Suggestion, Issue: "tools/list with a requestState gives no list", Evidence: fmt.Sprintf("%s -> %v", sent(a.Exchange), a), Want: "completed", Got: string(a.Kind)})
	}
}

func decline(t *T) {
	if len(members(t.o.flow.Last)) == 0 || t.o.good.Kind != completed || t.o.mask == nil {
		t.skip("the round takes no answers, or its results cannot be compared")
		return
	}
	plain, reason := t.answeredBy("decline", false)
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if plain.Kind == completed && t.o.alike(plain) {
		if !t.specific() {
			t.skip("a result that says the same after an acceptance and after a refusal tells nothing")
			return
		}
		t.declined("decline", plain)
		return
	}
	if t.underAnotherKey() {
		return
	}
	for _, action := range []string{"decline", "cancel", "sealab"} {
		a, reason := t.answeredBy(action, true)
		if reason != "" {
			t.skip("%s", reason)
			return
		}
		if a.Kind == completed && t.o.alike(a) {
			t.declined(action+" with the content of an acceptance", a)
			return
		}
	}
}

// underAnotherKey presents the acceptances as answers to questions that were not asked.
func (t *T) underAnotherKey() bool {
	f := t.o.flow
	changed := map[string]json.RawMessage{}
	for key, answer := range members(f.Last) {
		changed["sealab-"+key] = answer
	}
	f.Last = object(changed)
	token, reason := t.mint()
	if reason != "" {
		return false
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	if t.seen(variant{name: "another key"}, a); a.Kind != completed || !t.o.alike(a) {
		return false
	}
	t.declined("under another key", a)
	return true
}

func (t *T) declined(name string, a Answer) {
	t.refute(Finding{Case: name, Severity: Critical, Issue: "the answer " + name + " is carried out as an acceptance",
		Evidence: fmt.Sprintf("accepted: %v; %s: %v", t.o.good, name, a), Want: "another result", Got: "the same result"})
}

// answeredBy presents a fresh token with every answer under another action.
func (t *T) answeredBy(action string, content bool) (Answer, string) {
	f := t.o.flow
	changed := map[string]json.RawMessage{}
	for key, answer := range members(f.Last) {
		form := members(answer)
		if form["action"] == nil {
			return Answer{}, "the round asks for more than forms"
		}
		form = with(form, "action", quote(action))
		if !content {
			delete(form, "content")
		}
		changed[key] = object(form)
	}
	f.Last = object(changed)
	token, reason := t.mint()
	if reason != "" {
		return Answer{}, reason
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	t.seen(variant{name: action}, a)
	return a, ""
}

// specific reports whether a good completion names one of the arguments.
func (t *T) specific() bool {
	for _, raw := range members(t.o.flow.Arguments) {
		var text string
		if json.Unmarshal(raw, &text) == nil && len(text) > 3 && strings.Contains(t.o.good.Text, text) {
			return true
		}
	}
	return false
}

// overridden answers every round with more members, named as the arguments. It refutes if
// their value shows in a later text, and that of a member with another name does not.
func (t *T) overridden() {
	names := sortedKeys(members(t.o.flow.Arguments))
	word := t.word()
	text, a := t.answeredWith(names, word)
	if !strings.Contains(text, word) {
		return
	}
	other := t.word()
	if plain, _ := t.answeredWith([]string{"sealab_member"}, other); plain == "" || strings.Contains(plain, other) {
		return
	}
	t.refute(Finding{Case: "arguments among the answers", Severity: Critical, Issue: "a member that no form has changes the call", Evidence: fmt.Sprintf("members %s in every answer -> %v", names, a), Want: "ignored", Got: "carried out"})
}

// answeredWith walks the flow with more members in every form, and returns the texts from
// the first answer on; "" if the flow does not go on.
func (t *T) answeredWith(names []string, word string) (string, Answer) {
	more := func(answers json.RawMessage) json.RawMessage {
		all := members(answers)
		for key, answer := range all {
			content := members(members(answer)["content"])
			for _, name := range names {
				if content != nil && content[name] == nil {
					content = with(content, name, quote(word))
				}
			}
			if content != nil {
				all[key] = object(with(members(answer), "content", object(content)))
			}
		}
		return object(all)
	}
	f := t.o.flow
	f.Rounds, f.Last = nil, more(t.o.flow.Last)
	for _, answers := range t.o.flow.Rounds {
		f.Rounds = append(f.Rounds, more(answers))
	}
	token, question, err := t.r.client.mint(t.ctx, f, t.o.user)
	if err != nil {
		return "", question
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	t.seen(variant{name: "more members"}, a)
	return question.questionTexts() + a.questionTexts() + a.Text, a
}

func wrongForm(t *T) {
	if t.o.flow.Last != nil && (t.only == "" || t.only == "arguments among the answers") {
		t.overridden()
	}
	f := t.o.flow
	for key, answer := range members(f.Last) {
		form := members(answer)
		content := members(form["content"])
		for name, value := range content {
			wrong := json.RawMessage(`"sealab"`)
			if len(value) > 0 && value[0] == '"' {
				wrong = json.RawMessage(`[{"sealab":1}]`)
			}
			f.Last = object(with(members(t.o.flow.Last), key, object(with(form, "content", object(with(content, name, wrong))))))
			token, reason := t.mint()
			if reason != "" {
				t.skip("%s", reason)
				return
			}
			a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
			t.seen(variant{name: name}, a)
			if t.o.verdict(a) == accepted {
				t.refute(Finding{Case: name, Severity: Suggestion, Issue: "an answer of the wrong type is passed on", Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "asked again, or -32602", Got: "accepted"})
				return
			}
		}
	}
}

func sizes(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	texts := []variant{{name: "16 KiB", text: strings.Repeat("A", 16<<10)}, {name: "60 KiB", text: strings.Repeat("A", 60<<10)}, {name: "60,000 full stops", text: strings.Repeat(".", 60000)}}
	if t.r.opts.Effects {
		texts = append(texts, variant{name: "1 MB", text: strings.Repeat("A", 1e6)}, variant{name: "4 MB", text: strings.Repeat("A", 4e6)},
			variant{name: "a million full stops", text: strings.Repeat(".", 1e6)}, variant{name: "a token and a million line feeds", text: token + strings.Repeat("\n", 1e6)})
	}
	for _, v := range texts {
		a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
		t.seen(variant{name: v.name}, a)
		if t.o.judge(v.text, a) == accepted && !t.o.presence && t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(garbageState), t.o.user)) == refused && !strings.HasPrefix(v.text, token) {
			t.refute(Finding{Case: v.name, Severity: Critical, Issue: "a state of " + v.name + " that the server did not mint is accepted", Evidence: fmt.Sprintf("%v; garbage: refused", a), Want: "refused", Got: "accepted"})
			return
		}
		if took := t.slowly(v, a); took > 0 {
			t.refute(Finding{Case: v.name, Severity: Warning, Issue: "the server works long on a state of " + v.name, Evidence: fmt.Sprintf("%v after %v", a, took.Round(time.Second)), Want: "refused at once", Got: "refused late"})
			return
		}
		if alive := t.alive(); alive != "" {
			t.refute(Finding{Case: v.name, Severity: Warning, Issue: "the server does not answer after a state of " + v.name, Evidence: fmt.Sprintf("%v; then %s", a, alive), Want: "refused", Got: "broken"})
			return
		}
	}
}

// longTimes is how many times as long as a good call a bad state may take.
const longTimes = 20

// slowly returns the time that a bad state takes twice, if it is long, and long beside
// good calls before and after. It returns 0 otherwise.
func (t *T) slowly(v variant, a Answer) time.Duration {
	// A slow reader may take 5 µs for a byte.
	long := max(t.r.opts.Hang/6, 500*time.Millisecond) + time.Duration(len(v.text))*5*time.Microsecond
	if a.Exchange == nil || a.Exchange.Took < long {
		return 0
	}
	good := t.r.client.call(t.ctx, t.o.flow.call(t.o.user))
	again := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
	for _, e := range []*rawmcp.Exchange{good.Exchange, t.r.client.call(t.ctx, t.o.flow.call(t.o.user)).Exchange} {
		if e == nil || again.Exchange == nil || again.Exchange.Took < max(long, longTimes*e.Took) {
			return 0
		}
	}
	return again.Exchange.Took
}

// alive returns the reason why the server does not answer a good call, "" if it
// does. A server that comes back at once is alive.
func (t *T) alive() string {
	process := t.r.client.process
	if process != nil && !process.Alive() {
		return fmt.Sprintf("the process ended: %v", process.State())
	}
	for range 3 {
		if a := t.r.client.call(t.ctx, t.o.flow.call(t.o.user)); a.Kind != broken {
			return ""
		}
	}
	return "no answer to three calls"
}

// expires reports whether an unchanged token is refused after a time.
func (t *T) expires(after time.Duration) bool {
	token, reason := t.mint()
	if reason != "" || t.r.client.clock.Sleep(t.ctx, after) != nil {
		return true
	}
	return t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user).refused()
}

func takeBack(t *T) {
	t.prefer(takesText)
	sizes := []int{1000, 10_000, 30_000}
	if t.r.opts.Effects {
		sizes = append(sizes, 60_000, 100_000, 400_000, 900_000)
	}
	for _, n := range sizes {
		f := t.o.flow
		args := withText(f.Arguments, f.offer.input(), strings.Repeat("a", n))
		if args == nil {
			t.skip("no argument takes a text of %d characters", n)
			return
		}
		f = f.with(args)
		before := t.r.client.clock.Now()
		token, question, err := t.r.client.mint(t.ctx, f, t.o.user)
		if err != nil {
			if !question.conclusive() {
				t.skip("%v", err)
			}
			return // not minted
		}
		a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
		t.seen(variant{name: fmt.Sprint(n)}, a)
		if a.refused() {
			// The server counts from within the first answer to within the second.
			if t.expires(max(t.r.client.clock.Now().Sub(before), question.Exchange.Took+a.Exchange.Took)) {
				t.skip("a token does not live as long as the answers about one of %d characters take", len(token))
				return
			}
			t.refute(Finding{Case: fmt.Sprintf("%d characters", n), Severity: Warning, Issue: fmt.Sprintf("the token of an argument of %d characters is minted and then refused", n),
				Evidence: fmt.Sprintf("a token of %d characters -> %v", len(token), a), Want: "accepted, or not minted", Got: "refused"})
			return
		}
	}
}
