package answers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// usualNumbers and usualTexts are names of values that servers keep between the rounds of a call. A server
// that copies all members of an answer into its state overwrites them.
var (
	usualNumbers = []string{"amount", "balance", "cents", "charge", "cost", "credit", "discount", "fee", "limit", "max", "paid", "points", "price", "quantity",
		"rate", "subtotal", "sum", "tax", "total", "total_price", "totalPrice", "unit_price", "unitPrice", "value"}
	usualTexts = []string{"account", "admin", "approved", "approver", "currency", "customer", "email", "id", "level", "name", "owner", "permissions", "plan", "recipient",
		"role", "scope", "status", "target", "tenant", "tier", "to", "user", "user_id", "userId", "verified"}
)

// usualMark is the number for the first of usualNumbers. The others get higher ones.
const usualMark = 48151

// usualMembers returns members with usual names that no form asks for, the numbers and the texts, each with
// a value of its own. It leaves out the names of arguments, which overridingMembers has, and of questions.
func usualMembers(t *review.T) [2]jsondoc.Arguments {
	known := maps.Clone(jsondoc.Members(t.Oracle.Flow.Arguments))
	if known == nil {
		known = jsondoc.Arguments{}
	}
	maps.Copy(known, formMembers(t))
	for _, a := range t.Asking {
		for key := range a.Questions {
			known[key] = nil
		}
	}
	numbers, texts := jsondoc.Arguments{}, jsondoc.Arguments{}
	for i, name := range usualNumbers {
		if _, is := known[name]; !is {
			numbers[name] = fmt.Append(nil, usualMark+7*i)
		}
	}
	for _, name := range usualTexts {
		if _, is := known[name]; !is {
			texts[name] = jsondoc.Quote(t.Word())
		}
	}
	return [2]jsondoc.Arguments{numbers, texts}
}

// marksOf returns the texts in which a value may be shown: a number also with a mark between its digits, as
// thousands and hundredths are written.
func marksOf(value string) []string {
	n, err := strconv.Atoi(value)
	if err != nil {
		return []string{value}
	}
	all := []string{value}
	for _, mark := range []string{",", ".", " ", "'"} {
		all = append(all, fmt.Sprintf("%d%s%03d", n/1000, mark, n%1000), fmt.Sprintf("%d%s%02d", n/100, mark, n%100))
	}
	return all
}

// overrideUsualNames adds members with usual names to the answers of every round, all at once. If a later text
// shows the value of one, it adds that member alone. It records a finding if its value is shown again, and
// the same value under the name spelled backwards is not.
func overrideUsualNames(t *review.T) {
	if t.Oracle.Flow.Last == nil || len(t.Findings) > 0 {
		return
	}
	honest := honestTexts(t)
	for _, more := range usualMembers(t) {
		for _, place := range insertPlaces {
			if !t.Selected(place.name) {
				continue
			}
			text, _ := walkWithMembers(t, place, more)
			for _, name := range jsondoc.SortedKeys(more) {
				marks := marksOf(leafTexts(more[name])[0])
				if containsAny(text, marks) && !containsAny(honest, marks) && overridesName(t, place, name, more, marks) {
					return
				}
			}
		}
	}
}

// overridesName adds one of the members in one place and reports whether it changes the call.
func overridesName(t *review.T, place insertPlace, name string, more jsondoc.Arguments, marks []string) bool {
	turned := []byte(name)
	slices.Reverse(turned)
	one, other := jsondoc.Arguments{name: more[name]}, jsondoc.Arguments{string(turned): more[name]}
	text, a, shown := showsUnderNames(t, place, one, other, marks)
	if !shown {
		return false
	}
	t.Refute(review.Finding{Case: place.name, Severity: review.Critical, Issue: "a member " + name + " that no form has changes the call",
		Evidence: fmt.Sprintf("%s: %s -> %v, twice; as %s it is not shown; texts %s", place.name, jsondoc.Object(one), a, turned, client.Short(text, 160)),
		Want:     "ignored", Got: "carried out", Flow: &t.Oracle.Flow})
	return true
}
