package forgery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// encodingChecks are the checks of the encoding of a state.
var encodingChecks = []review.Check{
	{
		ID: "RS-SPELL", Name: "a state in another encoding", Flow: true, Severity: review.Warning, Category: "security",
		Sent: "a fresh token in other spellings of the same bytes: other unused bits in the last character, other " +
			"padding, the other base64 alphabet, hexadecimal or the prefix in the other case, white space, NUL, " +
			"a byte order mark, full-width characters, percent escapes, appended characters, quotes, the token " +
			"twice",
		Want:   "refuses every other spelling; accepts the same token with its JSON characters written as \\u escapes",
		Source: "RFC 4648, sections 3.3 and 3.5",
		Impact: "one token has many spellings: a server that remembers used or revoked tokens by their text does not " +
			"recognize them",
		Fix: "decode strictly, encode the result again, and refuse a token that differs from it",
		Run: checkSpellings,
	},
	{
		ID: "RS-TYPE", Name: "a state that is not a string", Flow: true, Severity: review.Critical, Category: "schema",
		Sent: "requestState as a number, an object, an array, true and null; the contents of a readable token as " +
			"an object; an object that is a database operator, such as {\"$ne\": ...}; an array that contains a " +
			"good token; a good token with inputResponses, or one answer, of another JSON type",
		Want:   "refuses requestState of another type with error -32602; never answers with an internal error",
		Source: "revision 2026-07-28, schema",
		Impact: "a client forges a state without a tag; or the server treats a malformed request as a new flow or as " +
			"its own failure",
		Fix: "check the types of requestState and inputResponses before the handler, and answer -32602",
		Run: checkStateTypes,
	},
	{
		ID: "RS-DUP", Name: "two states in one request", Flow: true, Severity: review.Suggestion, Category: "schema",
		Sent: "a request object with the member requestState twice: garbage and then a good token, and the " +
			"reverse; if the order does not matter, a good token and then a forged one",
		Want:   "refuses both orders, or always uses the last member",
		Source: "RFC 8259, section 4",
		Impact: "a gateway, or the verification itself, checks one state and the handler reads the other",
		Fix:    "refuse JSON objects with duplicate members",
		Run:    checkDuplicateStates,
	},
}

func checkSpellings(t *review.T) {
	severity := review.Suggestion
	if t.OneTime(t.Oracle.Flow) && !refusesUsedSpellings(t) {
		severity = review.Warning
	}
	hits, _, reason := t.Sweep(func(token string) []tokens.Variant {
		return []tokens.Variant{{Name: "escaped", Raw: tokens.Escaped(token)}}
	})
	if t.Only == "" && (reason != "" || len(hits) == 0) {
		t.Skip("control: the token written with \\u escapes is not accepted %s", reason)
		return
	}
	if tampered, _, _ := t.Sweep(func(token string) []tokens.Variant { return tokens.Some(tokens.Flips(token), 16) }); t.Only == "" && len(tampered) > 0 {
		t.Skip("the token is not protected against changes, see RS-TAMPER")
		return
	}
	presentVariants(t, severity, "another spelling of the token", func(token string) []tokens.Variant {
		return append(tokens.Spellings(token), tokens.Generated(token, true, 8, t.Options.Seed)...)
	})
}

// refusesUsedSpellings reports whether the server refuses a used token in every other spelling, as a server
// does that remembers the contents of used tokens.
func refusesUsedSpellings(t *review.T) bool {
	token, spent := t.UsedToken()
	return spent && !slices.ContainsFunc(tokens.Spellings(token), func(v tokens.Variant) bool {
		return t.Oracle.Judge(v.Text, t.Present(v.State())) == review.Accepted
	})
}

func checkStateTypes(t *review.T) {
	token, reason := t.Mint()
	if t.SkipFor(reason) || presentBareState(t, token) || presentOperator(t) {
		return
	}
	for _, name := range []string{"12345", `{"step":1}`, `["a"]`, "true", arrayCase} {
		raw := name
		if name == arrayCase {
			raw = "[" + string(jsondoc.Quote(token)) + "]"
		}
		a := t.Present(json.RawMessage(raw))
		if !t.CountedAs("requestState "+raw, a) {
			return
		}
		if a.Kind == client.Failed && a.Code == -32602 {
			continue
		}
		t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: "requestState " + name + " is not refused with -32602",
			Evidence: review.ExchangeText(a), Want: "refused with -32602", Got: a.String()})
		return
	}
	presentAnswerTypes(t)
}

// presentAnswerTypes presents null as the state, and good tokens with malformed inputResponses. It
// records a finding if the server answers with a fault.
func presentAnswerTypes(t *review.T) {
	type presentation struct{ name, state, answers string }
	all := []presentation{{"requestState null", "null", string(t.Oracle.Flow.Last)}}
	add := func(answers string) { all = append(all, presentation{"inputResponses " + answers, "", answers}) }
	for _, answers := range []string{"[]", `"sealab"`, "5"} {
		add(answers)
	}
	for _, key := range jsondoc.SortedKeys(t.Oracle.Fresh.Questions) {
		for _, answer := range []string{"null", "[]", `"sealab"`} {
			add(string(jsondoc.Object(jsondoc.Arguments{key: json.RawMessage(answer)})))
		}
	}
	for _, p := range all {
		if !t.Selected(p.name) {
			continue
		}
		f, faults := t.Oracle.Flow, 0
		f.Last = json.RawMessage(p.answers)
		var a client.Answer
		for range 2 {
			state := json.RawMessage(p.state)
			if p.state == "" {
				token, reason := t.Mint()
				if reason != "" {
					return
				}
				state = jsondoc.Quote(token)
			}
			if a = t.Tried(t.PresentIn(f, state)); noServerFault(a) {
				break
			}
			faults++
		}
		if faults == 2 {
			t.Refute(review.Finding{Case: p.name, Severity: review.Suggestion, Issue: p.name + " is a fault of the server",
				Evidence: review.ExchangeText(a), Want: "asked again, or refused with -32602", Got: a.String()})
			return
		}
		if a.Kind == client.Completed && f.Method == "tools/call" && !t.Options.Effects && !f.Named {
			t.Report.Notes = append(t.Report.Notes, fmt.Sprintf("RS-TYPE: %s ran %s to its end, so no more malformed answers were sent", p.name, f.Target))
			return
		}
	}
}

// noServerFault reports whether an answer is not a fault of the server.
func noServerFault(a client.Answer) bool {
	_, issue := review.NoFault(a)
	return issue == "" || a.Withheld()
}

const arrayCase = "an array with a good token"

// presentOperator presents an object that matches any text in some databases, and one that matches
// none.
func presentOperator(t *review.T) bool {
	const any, none = `{"$ne":"sealab"}`, `{"$eq":"sealab"}`
	accepts := func(raw string) bool {
		a := t.Tried(t.Present(json.RawMessage(raw)))
		return t.Oracle.Verdict(a) == review.Accepted
	}
	if !accepts(any) || accepts(none) || !accepts(any) {
		return false
	}
	t.Refute(review.Finding{Case: "an operator", Severity: review.Critical, Issue: "an object that is an operator of a database is accepted in the place of a state",
		Evidence: any + ": accepted, twice; " + none + ": refused", Want: "refused with -32602", Got: "accepted"})
	return true
}

// presentBareState presents the object of a readable token without the token. It records a finding
// if a value of the object comes back, because the server then required no tag.
func presentBareState(t *review.T, token string) bool {
	for _, v := range tokens.Views(token) {
		for nth := range min(countTexts(jsondoc.Object(v.Object)), maxProbed) {
			a := t.Present(replaceText(jsondoc.Object(v.Object), &nth))
			shows := a.Kind == client.Completed && t.Oracle.Bad.Refused() && strings.Contains(a.Text, review.EchoProbe)
			if t.Trials++; review.Echoes(a) || shows {
				t.Refute(review.Finding{Case: "the state as an object", Severity: review.Critical, Issue: "a state that is given as an object needs no tag",
					Evidence: review.ExchangeText(a), Want: "refused with -32602", Got: "accepted"})
				return true
			}
		}
	}
	return false
}

func checkDuplicateStates(t *review.T) {
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	a, ok := sendTwoStates(t, jsondoc.Quote(review.GarbageState), jsondoc.Quote(token))
	if !ok {
		return
	}
	last := t.Oracle.Verdict(a)
	token, reason = t.Mint()
	if t.SkipFor(reason) {
		return
	}
	a, ok = sendTwoStates(t, jsondoc.Quote(token), jsondoc.Quote(review.GarbageState))
	first := t.Oracle.Verdict(a)
	if !ok || last == review.Refused && first == review.Refused || last == review.Accepted && first == review.Refused {
		return
	}
	if echo := readsSecondState(t, token); echo != "" {
		t.Refute(review.Finding{Case: "a good token, then a forged one", Severity: review.Critical,
			Issue: "of two members requestState one is verified and the other is read", Evidence: echo, Want: "the last one counts", Got: "both"})
		return
	}
	t.Refute(review.Finding{Case: "either order", Severity: review.Suggestion, Issue: "of two members requestState the first counts, or either",
		Evidence: fmt.Sprintf("garbage, then a good token: accepted %v; a good token, then garbage: accepted %v", last == review.Accepted, first == review.Accepted),
		Want:     "the last one counts", Got: "another one"})
}

// sendTwoStates sends a request with two members requestState.
func sendTwoStates(t *review.T, one, two json.RawMessage) (client.Answer, bool) {
	call := t.Client.Presenting(t.Oracle.Flow, two, t.Oracle.User)
	body, _, err := t.Client.NextBody(call)
	if t.SkipOn(err) {
		return client.Answer{}, false
	}
	member := string(jsondoc.Quote(cmp.Or(call.Carrier, "requestState"))) + ":"
	text := strings.Replace(string(body), member, member+string(one)+","+member, 1)
	a := t.Client.RawCall(t.Context, t.Client.Headers(t.Context, call), []byte(text))
	return a, t.CountedAs("requestState twice", a)
}

// readsSecondState sends a good state followed by a forged one. It returns evidence that a value of
// the forged state comes back, or "".
func readsSecondState(t *review.T, token string) string {
	for _, v := range tokens.Views(token) {
		for _, name := range jsondoc.SortedKeys(v.Object) {
			if raw := v.Object[name]; len(raw) == 0 || raw[0] != '"' {
				continue
			}
			forged := v.Write(token, jsondoc.Object(jsondoc.With(v.Object, name, jsondoc.Quote(review.EchoProbe))))
			if a, ok := sendTwoStates(t, jsondoc.Quote(token), jsondoc.Quote(forged)); ok && review.Echoes(a) {
				return fmt.Sprintf("a good token, then %s -> %v", client.Short(forged, 160), a)
			}
		}
	}
	return ""
}
