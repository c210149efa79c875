package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// spelling are the checks of how a state is written.
var spelling = []Check{
	{ID: "RS-SPELL", Name: "a state in another spelling", Flow: true, Severity: Warning, Category: "security",
		Sent: "unused bits of the last character, padding, the other base64 alphabet, white space, NUL, a byte order mark, look-alikes, percent escapes, trailing characters, the token twice",
		Want: "refused; the same text written with \\u escapes is accepted", Source: "RFC 4648, sections 3.3 and 3.5",
		Impact: "one token has several texts: single use and revocation that remember the text do not know the others",
		Fix:    "decode strictly, encode again what was decoded, and refuse a text that is not the same", Run: spell},
	{ID: "RS-TYPE", Name: "a state that is no string", Flow: true, Severity: Critical, Category: "schema",
		Sent: "requestState as a number, an object, an array and true; the readable state as an object, an operator of a database, and an array with a good token; answers of another type with a good token", Want: "error -32602", Source: "revision 2026-07-28, schema",
		Impact: "a state that needs no tag is forged; a client's mistake is taken for a new flow, or answered by an error that names another cause",
		Fix:    "check the type of requestState before the request is handled, and answer -32602", Run: stateTypes},
	{ID: "RS-DUP", Name: "two states in one request", Flow: true, Severity: Suggestion, Category: "schema",
		Sent: "requestState twice in one object: garbage and a good token, in either order", Want: "both refused, or the last one counts in both",
		Source: "RFC 8259, section 4", Impact: "an intermediary checks one state and the server reads the other",
		Fix: "refuse objects with a member twice", Run: twice},
}

func spell(t *T) {
	severity := Suggestion
	if t.oneTime() {
		severity = Warning
	}
	hits, _, reason := t.sweep(func(token string) []variant { return []variant{{name: "escaped", raw: escaped(token)}} })
	if t.only == "" && (reason != "" || len(hits) == 0) {
		t.skip("control: the token written with \\u escapes is not accepted %s", reason)
		return
	}
	if tampered, _, _ := t.sweep(func(token string) []variant { return some(flips(token), 16) }); t.only == "" && len(tampered) > 0 {
		t.skip("the token is not protected against changes, see RS-TAMPER")
		return
	}
	t.altered(severity, "another spelling of the token", func(token string) []variant {
		return append(spellings(token), generated(token, true, 8, t.r.opts.Seed)...)
	})
}

// some returns about n of the variants, from all parts.
func some(all []variant, n int) []variant {
	var few []variant
	for i := 0; i < len(all); i += (len(all) + n - 1) / n {
		few = append(few, all[i])
	}
	return few
}

// oneTime reports whether the user declared the tokens of the flow to be for one
// use.
func (t *T) oneTime() bool { return t.r.oneTime(t.o.flow) }

func (r *Review) oneTime(f Flow) bool { return slices.Contains(r.opts.OneTime, f.Target) }

// escaped writes a token with a \u escape for each of its characters.
func escaped(token string) json.RawMessage {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range token {
		if r > 0xffff {
			return quote(token)
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')
	return json.RawMessage(b.String())
}

// spellings writes a token in other ways that careless readers take for the same
// bytes.
func spellings(token string) []variant {
	var all []variant
	add := func(name, text string) {
		if text != token {
			all = append(all, variant{name: name, text: text})
		}
	}
	segments := segmentsOf(token)
	at := codedOf(segments)
	for _, i := range at {
		spelledSegment(add, segments, i)
	}
	for name, x := range map[string]string{
		"a space": " ", "a tab": "\t", "a line feed": "\n", "CR LF": "\r\n", "NUL": "\x00", "a no-break space": "\u00a0", "a byte order mark": "\ufeff", "a zero-width space": "\u200b",
	} {
		add(name+" at the end", token+x)
		add(name+" in front", x+token)
		add(name+" in the middle", token[:len(token)/2]+x+token[len(token)/2:])
	}
	for _, x := range []string{"A", "AAAA", ".", ".x", ".A", "=", "==", "&x=1", ",", "|"} {
		add(fmt.Sprintf("%q at the end", x), token+x)
	}
	add("a full stop in front", "."+token)
	add("the token twice", token+token)
	add("the token twice with a full stop between", token+"."+token)
	add("percent escapes", url.QueryEscape(token))
	add("every character escaped with percent", percent(token))
	add("in quotes", `"`+token+`"`)
	if i := strings.IndexAny(token, ".:_-"); i > 0 && i < minCoded {
		add("the prefix in upper case", strings.ToUpper(token[:i])+token[i:])
		add("the prefix in lower case", strings.ToLower(token[:i])+token[i:])
	}
	if len(at) > 0 {
		add("a full-width last character", fullWidth(token))
	}
	return all
}

// spelledSegment adds other texts of the bytes of one segment.
func spelledSegment(add func(name, text string), segments []segment, i int) {
	s := segments[i]
	in := func(name, text string) {
		if text != s.text {
			add(fmt.Sprintf("%s in segment %d", name, i), replaced(segments, i, text))
		}
	}
	if s.hex {
		in("upper case", strings.ToUpper(s.text))
		in("lower case", strings.ToLower(s.text))
		return
	}
	body := strings.TrimRight(s.text, "=")
	in("no padding", body)
	if pad := (4 - len(body)%4) % 4; pad > 0 {
		in("padding", body+strings.Repeat("=", pad))
	}
	in("wrong padding", body+"===")
	in("the alphabet of base64", strings.NewReplacer("-", "+", "_", "/").Replace(s.text))
	in("the alphabet of base64url", strings.NewReplacer("+", "-", "/", "_").Replace(s.text))
	if spare := map[int]int{2: 16, 3: 4}[len(body)%4]; spare > 0 {
		last := strings.IndexByte(base64Letters, strings.NewReplacer("+", "-", "/", "_").Replace(body[len(body)-1:])[0])
		if other := base64Letters[last^1]; last >= 0 && last%spare == 0 {
			in("unused bits of the last character", body[:len(body)-1]+string(other)+s.text[len(body):])
		}
	}
}

func percent(token string) string {
	var b strings.Builder
	for i := range len(token) {
		fmt.Fprintf(&b, "%%%02X", token[i])
	}
	return b.String()
}

func fullWidth(token string) string {
	c := token[len(token)-1]
	if c <= ' ' || c >= 0x7f {
		return token
	}
	return token[:len(token)-1] + string(rune(c)+0xfee0)
}

func stateTypes(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if t.bareState(token) || t.operator() {
		return
	}
	for _, name := range []string{"12345", `{"step":1}`, `["a"]`, "true", inArray} {
		raw := name
		if name == inArray {
			raw = "[" + string(quote(token)) + "]"
		}
		a := t.r.client.present(t.ctx, t.o.flow, json.RawMessage(raw), t.o.user)
		if !a.conclusive() {
			t.skip("requestState %s: %v", raw, a)
			return
		}
		t.seen(variant{name: name}, a)
		if a.Kind == failed && a.Code == -32602 {
			continue
		}
		t.refute(Finding{Case: name, Severity: Suggestion, Issue: "requestState " + name + " is not refused with -32602",
			Evidence: fmt.Sprintf("%s -> %v", sent(a.Exchange), a), Want: "refused with -32602", Got: a.String()})
		return
	}
	t.answerTypes()
}

// answerTypes presents good tokens with inputResponses, and with an answer, of another type.
// It refutes if that is a fault of the server.
func (t *T) answerTypes() {
	all := []string{"[]", `"sealab"`, "5"}
	for _, key := range sortedKeys(t.o.fresh.Questions) {
		for _, answer := range []string{"null", "[]", `"sealab"`} {
			all = append(all, string(object(arguments{key: json.RawMessage(answer)})))
		}
	}
	for _, answers := range all {
		name := "inputResponses " + answers
		if t.only != "" && t.only != name {
			continue
		}
		f, faults := t.o.flow, 0
		f.Last = json.RawMessage(answers)
		var a Answer
		for range 2 {
			token, reason := t.mint()
			if reason != "" {
				return
			}
			a = t.r.client.present(t.ctx, f, quote(token), t.o.user)
			if t.seen(variant{name: name}, a); noFaultOf(a) {
				break
			}
			faults++
		}
		if faults == 2 {
			t.refute(Finding{Case: name, Severity: Suggestion, Issue: "answers of another type are a fault of the server",
				Evidence: fmt.Sprintf("%s -> %v", sent(a.Exchange), a), Want: "asked again, or refused with -32602", Got: a.String()})
			return
		}
	}
}

// noFaultOf reports whether an answer is no fault of the server.
func noFaultOf(a Answer) bool {
	_, issue := noFault(a)
	return issue == "" || a.Kind == noBudget || a.Kind == throttled
}

const inArray = "an array with a good token"

// operator presents an object that means any text to some databases, and one that means
// nothing to them.
func (t *T) operator() bool {
	const any, none = `{"$ne":"sealab"}`, `{"$eq":"sealab"}`
	accepts := func(raw string) bool {
		a := t.r.client.present(t.ctx, t.o.flow, json.RawMessage(raw), t.o.user)
		t.seen(variant{name: raw}, a)
		return t.o.verdict(a) == accepted
	}
	if !accepts(any) || accepts(none) || !accepts(any) {
		return false
	}
	t.refute(Finding{Case: "an operator", Severity: Critical, Issue: "an object that is an operator of a database is accepted in the place of a state",
		Evidence: any + ": accepted, twice; " + none + ": refused", Want: "refused with -32602", Got: "accepted"})
	return true
}

// bareState presents the object in a readable token without the token around it. It
// refutes if a value of the object comes back: no tag was asked for.
func (t *T) bareState(token string) bool {
	for _, v := range views(token) {
		for nth := range min(countTexts(object(v.object)), maxProbed) {
			a := t.r.client.present(t.ctx, t.o.flow, replaceText(object(v.object), &nth), t.o.user)
			shows := a.Kind == completed && t.o.bad.refused() && strings.Contains(a.Text, echoProbe)
			if t.seen(variant{name: "an object"}, a); a.echoes() || shows {
				t.refute(Finding{Case: "the state as an object", Severity: Critical, Issue: "a state that is given as an object needs no tag",
					Evidence: fmt.Sprintf("%s -> %v", sent(a.Exchange), a), Want: "refused with -32602", Got: "accepted"})
				return true
			}
		}
	}
	return false
}

func twice(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	a, ok := t.doubled(quote(garbageState), quote(token))
	if !ok {
		return
	}
	last := t.o.verdict(a)
	token, reason = t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	a, ok = t.doubled(quote(token), quote(garbageState))
	first := t.o.verdict(a)
	if !ok || last == refused && first == refused || last == accepted && first == refused {
		return
	}
	if echo := t.secondRead(token); echo != "" {
		t.refute(Finding{Case: "a good token, then a forged one", Severity: Critical, Issue: "of two members requestState one is verified and the other is read", Evidence: echo, Want: "the last one counts", Got: "both"})
		return
	}
	t.refute(Finding{Case: "either order", Severity: Suggestion, Issue: "of two members requestState the first counts, or either",
		Evidence: fmt.Sprintf("garbage, then a good token: accepted %v; a good token, then garbage: accepted %v", last == accepted, first == accepted),
		Want:     "the last one counts", Got: "another one"})
}

// doubled sends a request with the member requestState twice.
func (t *T) doubled(one, two json.RawMessage) (Answer, bool) {
	call := t.o.flow.call(t.o.user)
	call.State, call.Answers = two, t.o.flow.Last
	t.r.client.id++
	body, err := call.body(t.r.client.id)
	if err != nil {
		t.skip("%v", err)
		return Answer{}, false
	}
	member := string(quote(cmp.Or(call.Carrier, "requestState"))) + ":"
	text := strings.Replace(string(body), member, member+string(one)+","+member, 1)
	a := t.r.client.rawCall(t.ctx, t.r.client.callHeaders(t.ctx, call), []byte(text))
	if !a.conclusive() {
		t.skip("requestState twice: %v", a)
		return a, false
	}
	t.seen(variant{name: "twice"}, a)
	return a, true
}

// secondRead returns evidence that a value of a forged member comes back that stands
// after a good one, "" if no such value is seen.
func (t *T) secondRead(token string) string {
	for _, v := range views(token) {
		for _, name := range sortedKeys(v.object) {
			if raw := v.object[name]; len(raw) == 0 || raw[0] != '"' {
				continue
			}
			forged := v.write(token, object(with(v.object, name, quote(echoProbe))))
			if a, ok := t.doubled(quote(token), quote(forged)); ok && a.echoes() {
				return fmt.Sprintf("a good token, then %s -> %v", short(forged, 160), a)
			}
		}
	}
	return ""
}
