package offers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// shownMember matches a member and its value in a text: in JSON, or behind a colon or an equals sign.
var shownMember = regexp.MustCompile(`"?\b([A-Za-z]\w*)"?\s*[:=]\s*("[^"\n]*"|-?\d+(?:\.\d+)?\b|true\b|false\b|[A-Za-z]\w*)`)

// rightsName matches names of members by which a server tells rights, owners or money.
var rightsName = regexp.MustCompile(`(?i)role|admin|owner|rights|permission|tenant|verified|approved|price|fee|balance|credit|discount|paid`)

// membersIn returns the members that a result shows once, by name.
func membersIn(a client.Answer) map[string]json.RawMessage {
	all, seen := map[string]json.RawMessage{}, map[string]int{}
	for _, m := range shownMember.FindAllStringSubmatch(a.Text, -1) {
		value := json.RawMessage(m[2])
		if !json.Valid(value) {
			value = jsondoc.Quote(m[2])
		}
		all[m[1]] = value
		seen[m[1]]++
	}
	for name, n := range seen {
		if n > 1 {
			delete(all, name)
		}
	}
	return all
}

// A setter is a call that sets members: by its arguments, or by the members of one that is an object. Calls that
// ask have answers.
type setter struct {
	flow client.Flow
	in   string // the argument with the members; "" if they are the arguments
}

// settersOf returns the calls of a tool that set members. Their schemas name some, and do not say that others are
// values as well.
func settersOf(t *review.T, tool client.Offer) (all []setter) {
	f := t.FlowOf(tool)
	if t.Asks(tool) {
		i := slices.IndexFunc(t.Oracles, func(o *review.Oracle) bool { return o.Flow.Target == tool.Name && o.Completes() })
		if i < 0 {
			return nil
		}
		f = t.Oracles[i].Flow
	}
	if isChosen(tool.Input) {
		all = append(all, setter{f, ""})
	}
	for name, s := range jsondoc.Fields(tool.Input) {
		if s.TypeOf() != "object" || !isChosen(s.Raw) {
			continue
		}
		if len(jsondoc.Members(jsondoc.Members(f.Arguments)[name])) == 0 {
			f = f.WithArgument(name, jsondoc.FullSample(s.Raw, 0))
		}
		all = append(all, setter{f, name})
	}
	return all
}

// String describes the place of the members that a setter sets.
func (s setter) String() string {
	if s.in == "" {
		return s.flow.Target
	}
	return s.in + " of " + s.flow.Target
}

// schema returns the schema of the object with the members.
func (s setter) schema() json.RawMessage {
	if s.in == "" {
		return s.flow.Offer.Input
	}
	return jsondoc.ParseSchema(s.flow.Offer.Input).Properties[s.in]
}

// with returns the call with another member in the place of the setter.
func (s setter) with(name string, v json.RawMessage) client.Flow {
	if s.in == "" {
		return s.flow.WithArgument(name, v)
	}
	return s.flow.WithArgument(s.in, jsondoc.WithMember(jsondoc.Members(s.flow.Arguments)[s.in], name, v))
}

// assignsMembers gives tools that change something additional members, with the names of members that a
// reading call shows and that the schema does not define. It records a finding if the reading call shows the
// given values in their place, twice.
func assignsMembers(t *review.T) {
	readers := t.ReadingCalls()
	readers = readers[:min(len(readers), review.MaxTestedCalls)]
	for _, tool := range t.Changers() {
		for _, s := range settersOf(t, tool) {
			if len(readers) == 0 || t.Walk(s.flow, client.FirstUser).Kind != client.Completed {
				continue
			}
			for _, read := range readers {
				for _, name := range assignable(t, s, read) {
					label := fmt.Sprintf("%s of %s in %s", name, read.Target, s)
					if t.Selected(label) && assignsMember(t, s, read, name, label) {
						return
					}
				}
			}
		}
	}
}

// isChosen reports whether the schema of an object names its members, and does not say that others are values
// as well.
func isChosen(schema json.RawMessage) bool {
	more := string(jsondoc.Members(schema)["additionalProperties"])
	return len(jsondoc.ParseSchema(schema).Properties) > 0 && (more == "" || more == "false") && jsondoc.Members(schema)["patternProperties"] == nil
}

// assignable returns the members of a reading call that the schema of a setter does not define, those of rights
// first. The call must show another member that the setter sets: it then shows what the tool changes.
func assignable(t *review.T, s setter, read client.Call) []string {
	properties, shown := jsondoc.ParseSchema(s.schema()).Properties, membersIn(t.Call(read))
	var all []string
	for _, name := range jsondoc.SortedKeys(shown) {
		if properties[name] == nil {
			all = append(all, name)
		}
	}
	if len(all) == len(shown) {
		return nil
	}
	slices.SortStableFunc(all, func(a, b string) int { return rank(a) - rank(b) })
	return all[:min(len(all), review.MaxTestedCalls)]
}

func rank(name string) int {
	if rightsName.MatchString(name) {
		return 0
	}
	return 1
}

// assignsMember reports whether a reading call shows the values of an additional member of a setter in place
// of the value of a member, and not without it. It gives the first value back.
func assignsMember(t *review.T, s setter, read client.Call, name, label string) bool {
	first := membersIn(t.Call(read))[name]
	values := otherValues(t, first)
	give := func(v json.RawMessage) client.Answer {
		return t.Tried(t.Walk(s.with(name, v), client.FirstUser))
	}
	var a client.Answer
	assigned := 0
	for _, v := range values {
		t.Walk(s.flow, client.FirstUser)
		before := membersIn(t.Call(read))[name]
		a = give(v)
		after := membersIn(t.Call(read))[name]
		if a.Kind != client.Completed || before == nil || string(before) == string(v) || string(after) != string(v) {
			break
		}
		assigned++
	}
	if assigned == 0 {
		return false
	}
	give(first)
	if assigned < len(values) {
		return false
	}
	t.Oracle = nil // the finding belongs to no flow
	severity := review.Warning
	if rightsName.MatchString(name) {
		severity = review.Critical
	}
	t.Fault(label, severity, fmt.Sprintf("%s sets %s, a member that its schema does not define: %s then shows the given value", client.Short(s.String(), 60), client.Short(name, 60), client.Short(read.Target, 60)), a)
	return true
}

// otherValues returns new values of the type of a value. A boolean changes to and fro.
func otherValues(t *review.T, v json.RawMessage) []json.RawMessage {
	switch text := string(v); {
	case text == "true" || text == "false":
		other := json.RawMessage(map[string]string{"true": "false", "false": "true"}[text])
		return []json.RawMessage{other, v, other}
	case strings.HasPrefix(text, `"`):
		return []json.RawMessage{jsondoc.Quote(t.Word()), jsondoc.Quote(t.Word())}
	}
	return []json.RawMessage{json.RawMessage("7919"), json.RawMessage("7907")}
}
