package isolation

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// referenceWords are parts of names of arguments by which a server knows a repeated call.
var referenceWords = []string{"ref", "key", "idempoten", "dedup", "nonce", "token", "request", "transaction", "operation", "order", "client", "external"}

// leaksReceipt carries calls out as one user, and with the same reference and another word as the other
// one. It records a finding if the result of the latter has the word of the former, twice, and a
// read-only tool or a resource shows that word to the former alone.
func leaksReceipt(t *review.T) bool {
	for _, d := range deedsOf(t) {
		properties := jsondoc.ParseSchema(d.flow.Offer.Input).Properties
		for _, name := range jsondoc.SortedKeys(properties) {
			label := "references of " + d.flow.Target + ": " + name
			if !client.Mentions(name, referenceWords) || newReference(t, properties[name]) == nil || !t.Selected(label) {
				continue
			}
			if leaksOwnedReceipt(t, d, name, label) {
				return true
			}
			for _, o := range orders(d, name) {
				if a, word := o.repeatsReceipt(); word != "" && isPrivate(t, word, review.UserPairs[0]) {
					t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "the reference of a call of one user gives the other one its result", Flow: &d.flow,
						Evidence: fmt.Sprintf("one user gave %s; then, to the other, with the same %s: %s", word, name, review.ExchangeText(a)), Want: "a result of the second call, or a refusal", Got: "that of the first user's call"})
					return true
				}
			}
		}
	}
	return false
}

// newReference returns a reference that no call had and that a schema allows, or nil.
func newReference(t *review.T, schema json.RawMessage) json.RawMessage {
	word := t.Word()
	sum := sha256.Sum256([]byte(word))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // RFC 9562, version 4
	uuid := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	sample, _ := jsondoc.Text(jsondoc.Samples(schema, 0)[0]) // "" if it is not a string
	numbered := []byte(sample)
	for i, c := range numbered {
		if c >= '0' && c <= '9' {
			numbered[i] = '0' + sum[i%len(sum)]%10
		}
	}
	for _, text := range []string{uuid, word, strings.ToUpper(word), string(numbered)} {
		matches, err := regexp.MatchString(jsondoc.ParseSchema(schema).Pattern, text)
		if v := jsondoc.Quote(text); matches && err == nil && jsondoc.AllowsText(schema, v) {
			return v
		}
	}
	return nil
}

// withNewReferences returns a flow with new values of the arguments that may be references, and whether it
// has any.
func withNewReferences(t *review.T, f client.Flow) (client.Flow, bool) {
	has, properties := false, jsondoc.ParseSchema(f.Offer.InputSchema()).Properties
	given := jsondoc.Members(f.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		if _, text := jsondoc.Text(given[name]); !text || !client.Mentions(name, referenceWords) {
			continue
		}
		if v := newReference(t, properties[name]); v != nil {
			f, has = f.WithArgument(name, v), true
		}
	}
	return f, has
}

// An order is a deed with a reference, and with a word in one place of its other arguments.
type order struct {
	deed
	reference, place string
}

// orders returns a deed with each place for a word that its schema allows.
func orders(d deed, reference string) []order {
	var all []order
	places := jsondoc.WithTexts(jsondoc.Without(jsondoc.Members(d.flow.Arguments), reference), d.Word())
	sample := newReference(d.T, jsondoc.ParseSchema(d.flow.Offer.Input).Properties[reference])
	for _, place := range jsondoc.SortedKeys(places) {
		if jsondoc.Fits(d.flow.Offer.Input, jsondoc.WithMember(places[place], reference, sample)) {
			all = append(all, order{d, reference, place})
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// carryOutWith carries the order out with a reference and a word.
func (o order) carryOutWith(reference json.RawMessage, word string, as client.User) client.Answer {
	arguments := jsondoc.WithTexts(jsondoc.Members(o.flow.Arguments), word)[o.place]
	return deed{T: o.T, flow: o.flow.With(jsondoc.WithMember(arguments, o.reference, reference))}.carryOut(as)
}

// repeatsReceipt carries the order out as the first user, and with the same reference as the second, twice.
// It returns the last answer, and the word of the first user if the results of the second have it in place
// of his own word, which a result for a new reference has.
func (o order) repeatsReceipt() (a client.Answer, word string) {
	schema := jsondoc.ParseSchema(o.flow.Offer.Input).Properties[o.reference]
	for range 2 {
		own, reference := o.Word(), newReference(o.T, schema)
		word = o.Word()
		shows := func(a client.Answer, one, other string) bool {
			return a.Kind == client.Completed && strings.Contains(a.Text, one) && !strings.Contains(a.Text, other)
		}
		if !shows(o.carryOutWith(reference, word, client.FirstUser), word, own) {
			return a, ""
		}
		a = o.carryOutWith(reference, own, client.SecondUser)
		if !shows(a, word, own) || !shows(o.carryOutWith(newReference(o.T, schema), own, client.SecondUser), own, word) {
			return a, ""
		}
	}
	return a, word
}

// minOwnedText is the length of the shortest argument that shows whose result a text is.
const minOwnedText = 3

// leaksOwnedReceipt carries a deed out as the first user, with an argument that only this user can read in
// what tools and resources show, and gives its reference to the second user with another argument. Servers
// that know the values of this argument take no new word in it. It records a finding if the second user is
// told the argument of the first, twice, and is not with a new reference.
func leaksOwnedReceipt(t *review.T, d deed, reference, label string) bool {
	arguments := jsondoc.Without(jsondoc.Members(d.flow.Arguments), reference)
	for _, place := range jsondoc.SortedKeys(arguments) {
		value, _ := jsondoc.Text(arguments[place]) // "" if it is not a string
		if len(value) < minOwnedText || !isPrivate(t, value, review.UserPairs[0]) {
			continue
		}
		x := ownedReceipt{order{d, reference, place}, value}
		if a, told := x.tells(); told {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "the reference of a call of one user gives the other one its result", Flow: &d.flow,
				Evidence: fmt.Sprintf("one user gave %s, which the other cannot read; then, to the other, with the same %s and another %s: %s", value, reference, place, review.ExchangeText(a)),
				Want:     "a refusal, as with a new reference", Got: "that of the first user's call"})
			return true
		}
	}
	return false
}

// An ownedReceipt is an order whose place has a value that only the first user can read.
type ownedReceipt struct {
	order
	value string
}

// tells reports whether the second user is told the value for the reference of the first user's call, and not
// for a new one, twice. It returns the last answer with the value.
func (x ownedReceipt) tells() (a client.Answer, told bool) {
	properties := jsondoc.ParseSchema(x.flow.Offer.Input).Properties
	shows := func(a client.Answer) bool { return strings.Contains(a.ShownTexts(), x.value) }
	for range 2 {
		used, other := newReference(x.T, properties[x.reference]), newReference(x.T, properties[x.place])
		if used == nil || other == nil { // the schema allows none
			return a, false
		}
		word, _ := jsondoc.Text(other) // it is one
		own := x.carryOutWith(used, x.value, client.FirstUser)
		if own.Kind != client.Completed || !shows(own) {
			return a, false
		}
		a = x.carryOutWith(used, word, client.SecondUser)
		if !shows(a) || shows(x.carryOutWith(newReference(x.T, properties[x.reference]), word, client.SecondUser)) {
			return a, false
		}
	}
	return a, true
}

// leaksWordOfConflict carries a call out with a new word in one argument as one user, and then with
// other words as the other user. It records a finding if a refusal of the latter has the word of the
// former, twice, and a read-only tool or a resource shows the word to the former alone.
func leaksWordOfConflict(t *review.T) bool {
	for _, o := range t.Oracles {
		f := o.Flow
		if !o.Completes() || f.Method != "tools/call" {
			continue
		}
		properties := jsondoc.ParseSchema(f.Offer.Input).Properties
		for _, name := range jsondoc.SortedKeys(jsondoc.Members(f.Arguments)) {
			label := "conflicts of " + f.Target + ": " + name
			if !jsondoc.ParseSchema(properties[name]).AnyText() || !t.Selected(label) {
				continue
			}
			for _, pair := range review.UserPairs {
				if a, word := refusesWithWord(t, f, name, pair); word != "" && isPrivate(t, word, pair) {
					t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "the refusal of a call shows a text that another user gave", Flow: &f,
						Evidence: fmt.Sprintf("one user gave %s as %s; then, to the other: %s", word, name, review.ExchangeText(a)), Want: "a refusal without it", Got: "shown"})
					return true
				}
			}
		}
	}
	return false
}

// refusesWithWord carries a flow out with a word as the first user of a pair, and twice with other
// words as the second. It returns the last answer, and the word if both are refusals that contain it.
func refusesWithWord(t *review.T, f client.Flow, name string, pair [2]client.User) (a client.Answer, word string) {
	carryOut := func(word string, as client.User) client.Answer {
		return deed{T: t, flow: f.WithArgument(name, jsondoc.Quote(word))}.carryOut(as)
	}
	if word = t.Word(); carryOut(word, pair[0]).Kind != client.Completed {
		return a, ""
	}
	for range 2 {
		if a = carryOut(t.Word(), pair[1]); !a.Refused() || !strings.Contains(a.Message+string(a.Data), word) {
			return a, ""
		}
	}
	return a, word
}

// isPrivate reports whether a read-only tool or a resource shows a word to the first user of a pair,
// and none shows it to the second.
func isPrivate(t *review.T, word string, pair [2]client.User) bool {
	shown := map[client.User]bool{}
	for _, as := range pair {
		for _, call := range t.ReadingCalls() {
			shown[as] = shown[as] || strings.Contains(string(t.Tried(t.Call(call.By(as))).Result), word)
		}
	}
	return shown[pair[0]] && !shown[pair[1]]
}
