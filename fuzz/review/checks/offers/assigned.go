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

// assignsMembers gives tools that change something additional arguments, with the names of members that a
// reading call shows and that the schema does not define. It records a finding if the reading call shows the
// given values in their place, twice.
func assignsMembers(t *review.T) {
	readers := t.ReadingCalls()
	for _, tool := range t.Changers() {
		f := t.FlowOf(tool)
		if t.Asks(tool) || !isChosen(tool) || t.Call(f.Call(client.FirstUser)).Kind != client.Completed {
			continue
		}
		for _, read := range readers[:min(len(readers), review.MaxTestedCalls)] {
			for _, name := range assignable(t, tool, read) {
				label := fmt.Sprintf("%s of %s in %s", name, read.Target, tool.Name)
				if t.Selected(label) && assignsMember(t, f, read, name, label) {
					return
				}
			}
		}
	}
}

// isChosen reports whether the schema of a tool names its arguments, and does not say that others are values
// as well.
func isChosen(tool client.Offer) bool {
	more := string(jsondoc.Members(tool.Input)["additionalProperties"])
	return len(jsondoc.ParseSchema(tool.Input).Properties) > 0 && (more == "" || more == "false") && jsondoc.Members(tool.Input)["patternProperties"] == nil
}

// assignable returns the members of a reading call that the schema of a tool does not define, those of rights
// first. The call must show another member that the tool sets: it then shows what the tool changes.
func assignable(t *review.T, tool client.Offer, read client.Call) []string {
	properties, shown := jsondoc.ParseSchema(tool.Input).Properties, membersIn(t.Call(read))
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

// assignsMember reports whether a reading call shows the values of an additional argument of a tool in place
// of the value of a member, and not without the argument. It gives the first value back.
func assignsMember(t *review.T, f client.Flow, read client.Call, name, label string) bool {
	first := membersIn(t.Call(read))[name]
	values := otherValues(t, first)
	give := func(v json.RawMessage) client.Answer {
		return t.Tried(t.Call(f.WithArgument(name, v).Call(client.FirstUser)))
	}
	var a client.Answer
	assigned := 0
	for _, v := range values {
		t.Call(f.Call(client.FirstUser))
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
	t.Fault(label, severity, fmt.Sprintf("%s sets %s, an argument that its schema does not define: %s then shows the given value", client.Short(f.Target, 60), client.Short(name, 60), client.Short(read.Target, 60)), a)
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
