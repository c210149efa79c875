package isolation

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
