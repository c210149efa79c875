package forgery

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// maxProbed is the number of texts in a readable token that are changed.
const maxProbed = 8

// presentUnverified presents changed states without answers in flows whose other tests send
// answers. Some servers verify a state only once they have an answer. It records a finding if a
// changed text comes back in the question or in the next state.
func presentUnverified(t *review.T) {
	for _, o := range t.Oracles {
		if len(t.Findings) > 0 || o.Flow.Last == nil {
			continue
		}
		f := o.Flow.WithLast(nil)
		for i := range maxProbed {
			name := fmt.Sprintf("text %d of the state of %s without answers", i, f.Target)
			if !t.Selected(name) {
				continue
			}
			a, v, probed := presentProbe(t, f, o, i)
			if !probed {
				break
			}
			if t.Trials++; !review.Echoes(a) {
				continue
			}
			if again, _, _ := presentProbe(t, f, o, i); !review.Echoes(again) {
				continue
			}
			severity, goes := review.Warning, "a question shows it"
			if a.State != nil && strings.Contains(tokens.Readable(*a.State), review.EchoProbe) {
				severity, goes = review.Critical, "the next state has it"
			}
			t.Refute(review.Finding{Case: name, Severity: severity, Issue: "a state is read before it is verified: a text in it is changed, and " + goes,
				Evidence: fmt.Sprintf("%s -> %v %s", client.Short(v, 160), a, client.Short(a.QuestionTexts(), 80)), Want: "refused", Got: "asked", Flow: &o.Flow})
			break
		}
	}
}

// presentProbe presents a fresh token, without answers, whose nth text is the probe. It returns
// false if the token has no such text.
func presentProbe(t *review.T, f client.Flow, o *review.Oracle, nth int) (client.Answer, string, bool) {
	token, _, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return client.Answer{}, "", false
	}
	for _, v := range tokens.Views(token) {
		if n := countTexts(jsondoc.Object(v.Object)); nth >= n {
			nth -= n
			continue
		}
		text := v.Write(token, replaceText(jsondoc.Object(v.Object), &nth))
		return t.Client.Present(t.Context, f, jsondoc.Quote(text), o.User), text, true
	}
	return client.Answer{}, "", false
}

// countTexts returns the number of strings in a value. A string that holds a JSON object counts as
// that object.
func countTexts(raw json.RawMessage) int {
	if inner, ok := innerObject(raw); ok {
		return countTexts(inner)
	}
	if raw[0] == '"' {
		return 1
	}
	n := 0
	for _, value := range jsondoc.Members(raw) {
		n += countTexts(value)
	}
	return n
}

// innerObject returns the JSON object that a string holds.
func innerObject(raw json.RawMessage) (json.RawMessage, bool) {
	text, ok := jsondoc.Text(raw)
	return json.RawMessage(text), ok && jsondoc.Members(json.RawMessage(text)) != nil
}

// replaceText returns a value with its nth string replaced by the probe.
func replaceText(raw json.RawMessage, nth *int) json.RawMessage {
	if inner, ok := innerObject(raw); ok {
		return jsondoc.Quote(string(replaceText(inner, nth)))
	}
	if raw[0] == '"' {
		if *nth--; *nth == -1 {
			return jsondoc.Quote(review.EchoProbe)
		}
		return raw
	}
	m := jsondoc.Members(raw)
	for _, name := range jsondoc.SortedKeys(m) {
		m[name] = replaceText(m[name], nth)
	}
	if m == nil {
		return raw
	}
	return jsondoc.Object(m)
}
