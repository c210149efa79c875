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
