package answers

import (
	"encoding/json"
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

// pollutedPlaces are the places in which checkPrototypeAnswers adds prototype members.
var pollutedPlaces = []struct {
	name string
	insertPlace
}{{"an answer", insertPlaces[1]}, {"content", insertPlaces[0]}, {"the answers", insertPlaces[2]}}

// checkPrototypeAnswers completes calls whose answers have members that a careless merge copies
// into the prototype of all JavaScript objects.
func checkPrototypeAnswers(t *review.T) {
	f := t.Oracle.Flow
	for _, place := range pollutedPlaces {
		token, reason := t.Mint()
		if t.SkipFor(reason) {
			return
		}
		f.Last = jsondoc.Object(place.add(jsondoc.Members(t.Oracle.Flow.Last), review.Polluting))
		var a client.Answer
		if after, is := t.Pollutes(func() { a = t.Tried(t.PresentIn(f, jsondoc.Quote(token))) }); is {
			t.Refute(review.Finding{Case: place.name, Severity: review.Critical, Issue: "members of " + place.name + " named __proto__ and constructor change how requests of everybody are read",
				Evidence: fmt.Sprintf("answers %s -> %v; then %s, refused before", f.Last, a, review.ExchangeText(after)), Want: "refused", Got: "accepted", Flow: &f})
			return
		}
	}
}

// overrideRising looks at calls that are carried out once for the same arguments, such as bids that must
// be higher than the last. It adds an integer argument to the answers, with a higher value in each call.
func overrideRising(t *review.T) {
	own := t.Oracle
	defer func() { t.Oracle = own }()
	asked := formMembers(t)
	for _, f := range t.Flows {
		if f.Last == nil || f.Method != "tools/call" || isCompleted(t, f) {
			continue
		}
		properties := jsondoc.ParseSchema(f.Offer.InputSchema()).Properties
		for name, raw := range jsondoc.InOrder(jsondoc.Members(f.Arguments)) {
			p := jsondoc.ParseSchema(properties[name])
			label := "a higher " + name + " among the answers to " + f.Target
			n, err := strconv.Atoi(string(raw))
			if err == nil && p.TypeOf() == "integer" && len(p.Enum) == 0 && asked[name] == nil && t.Selected(label) && (rising{t, f, name, p}).overrides(label, n) {
				return
			}
		}
	}
}

// isCompleted reports whether a flow to the same target can be carried out again and again.
func isCompleted(t *review.T, f client.Flow) bool {
	for _, o := range t.Oracles {
		if o.Flow.Target == f.Target && o.Completes() {
			return true
		}
	}
	return false
}

// A rising is a flow with an integer argument that may have to be higher in each call.
type rising struct {
	*review.T
	flow   client.Flow
	name   string
	schema jsondoc.Schema
}

// overrides calls the flow with rising arguments above n, in turn with a member of another name and of the
// name of the argument among the answers. It records a finding if the results always show the argument with
// the one, and always the member instead with the other.
func (r rising) overrides(label string, n int) bool {
	evidence := ""
	for i := range 4 {
		member := "sealab_member"
		if i%2 == 1 {
			member = r.name
		}
		a, at := r.next(n, member)
		if a.Kind != client.Completed {
			return false
		}
		ownValue, memberValue := client.HasWord(a.Text, strconv.Itoa(at)), client.HasWord(a.Text, strconv.Itoa(at+1))
		if replaced := i%2 == 1; ownValue == replaced || memberValue != replaced {
			return false
		}
		evidence = fmt.Sprintf("%s %d, and {%q:%d} among the answers -> %v; a member of another name is ignored", r.name, at, member, at+1, a)
		n = at
	}
	r.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a member that no form has replaces the argument " + client.Short(r.name, 40),
		Evidence: evidence, Want: "ignored", Got: "carried out", Flow: &r.flow})
	return true
}

// maxRises is the number of arguments that are tried for one call.
const maxRises = 4

// next calls the flow with higher and higher arguments, and a member among the answers that is higher by
// one, until a call is carried out. It returns the last answer and argument.
func (r rising) next(n int, member string) (a client.Answer, at int) {
	at = n
	for range maxRises {
		if at = 2*at + 37; n <= 0 || !r.schema.Allows(float64(at+1)) {
			break
		}
		r.Oracle = &review.Oracle{Flow: r.flow.WithArgument(r.name, json.RawMessage(strconv.Itoa(at))), User: client.FirstUser}
		if _, a = walkWithMembers(r.T, insertPlaces[0], jsondoc.Arguments{member: json.RawMessage(strconv.Itoa(at + 1))}); a.Kind != client.ToolError && a.Kind != client.Failed {
			return a, at
		}
	}
	return a, at
}
