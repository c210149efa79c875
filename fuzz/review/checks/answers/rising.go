package answers

import (
	"encoding/json"
	"fmt"
	"strconv"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
