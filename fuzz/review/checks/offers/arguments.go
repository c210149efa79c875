package offers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// maxLikelyArguments is the number of likely arguments that variousArguments returns.
const maxLikelyArguments = 12

// variousArguments returns arguments that the schema of a tool allows. It varies the most likely
// ones with optional, other, minimal and long values.
func variousArguments(o client.Offer) []json.RawMessage {
	base := jsondoc.Samples(o.Input, 0)
	all := append(base[:min(len(base), maxLikelyArguments)], jsondoc.FullSample(o.Input, 0), withLeaves(o.Input, base[0], leastValue), withLeaves(o.Input, base[0], longValue))
	if other := jsondoc.OtherArguments(base[0], o.Input); other != nil {
		all = append(all, other)
	}
	var distinct []json.RawMessage
	for _, x := range all {
		if !jsondoc.Contains(distinct, x) {
			distinct = append(distinct, x)
		}
	}
	return distinct
}

// withLeaves replaces the values in a value that are no objects.
func withLeaves(raw, given json.RawMessage, change func(raw, given json.RawMessage) json.RawMessage) json.RawMessage {
	m, properties := jsondoc.Members(given), jsondoc.ParseSchema(raw).Properties
	if m == nil {
		return change(raw, given)
	}
	for name := range m {
		m[name] = withLeaves(properties[name], m[name], change)
	}
	return jsondoc.Object(m)
}

// leastValue returns the zero, empty or false value if the schema allows it, or the given one.
func leastValue(raw, given json.RawMessage) json.RawMessage {
	kind := jsondoc.ParseSchema(raw).TypeOf()
	least := map[string]string{"integer": "0", "number": "0", "string": `""`, "boolean": "false", "array": "[]"}[kind]
	if least == "" || !jsondoc.Fits(raw, json.RawMessage(least)) {
		return given
	}
	return json.RawMessage(least)
}

// longValue returns a long string if the schema allows it, or the given value.
func longValue(raw, given json.RawMessage) json.RawMessage {
	s := jsondoc.ParseSchema(raw)
	long := strings.Repeat("long ", 200)
	if s.MaxLength != nil {
		long = long[:max(0, min(len(long), *s.MaxLength))]
	}
	if s.TypeOf() != "string" || s.Format != "" || jsondoc.Misfit(raw, long) != "" {
		return given
	}
	return jsondoc.Quote(long)
}

// A wrongValue is a value that the schema does not allow.
type wrongValue struct {
	name     string
	value    json.RawMessage
	severity review.Severity
}

// wrongValues returns values that the schema does not allow and that differ from given in one
// place. Nested places come first, because careless servers omit their validation.
func wrongValues(raw, given json.RawMessage, path string, depth int) []wrongValue {
	s := jsondoc.ParseSchema(raw)
	if len(s.Types()) > 1 || s.Const != nil || len(s.OneOf)+len(s.AnyOf) > 0 || depth > jsondoc.MaxFull {
		return nil
	}
	var all []wrongValue
	add := func(name, value string, severity review.Severity) {
		all = append(all, wrongValue{name, json.RawMessage(value), severity})
	}
	kind := s.TypeOf()
	if m := jsondoc.Members(given); m != nil && kind == "object" {
		for _, name := range jsondoc.SortedKeys(m) {
			for _, x := range wrongValues(s.Properties[name], m[name], path+"."+name, depth+1) {
				x.value = jsondoc.Object(jsondoc.With(m, name, x.value))
				all = append(all, x)
			}
		}
		slices.SortStableFunc(all, func(a, b wrongValue) int { return strings.Count(b.name, ".") - strings.Count(a.name, ".") })
		for _, name := range s.Required {
			less := jsondoc.With(m, name, nil)
			delete(less, name)
			all = append(all, wrongValue{path + " without " + name, jsondoc.Object(less), review.Warning})
		}
		return all
	}
	if kind == "array" {
		all = wrongLists(s, given, path, depth)
	}
	if wrong := map[string]string{"string": "[5]", "number": `"a"`, "integer": `"a"`, "boolean": `"a"`, "object": "5", "array": "5"}[kind]; wrong != "" {
		add("another type for "+path, wrong, review.Warning)
	}
	if len(s.Enum) > 0 && kind == "string" {
		add("none of the list for "+path, `"sealab-none"`, review.Warning)
	}
	if s.Maximum != nil {
		add("more than the maximum for "+path, fmt.Sprintf("%.0f", *s.Maximum+1), review.Suggestion)
	}
	if s.Minimum != nil {
		add("less than the minimum for "+path, fmt.Sprintf("%.0f", *s.Minimum-1), review.Suggestion)
	}
	if s.MaxLength != nil && *s.MaxLength >= 0 && *s.MaxLength < 5000 {
		add("a longer text for "+path, string(jsondoc.Quote(strings.Repeat("a", *s.MaxLength+1))), review.Suggestion)
	}
	if kind == "string" && (s.Pattern != "" || s.MinLength > 0) {
		add("a text that is too short or of another pattern for "+path, `""`, review.Suggestion)
	}
	return all
}

// maxCopies is the number of items up to which lists of copies are tested.
const maxCopies = 200

// wrongLists returns lists whose first item is wrong, or which have more copies of it than the
// schema allows.
func wrongLists(s jsondoc.Schema, given json.RawMessage, path string, depth int) []wrongValue {
	var items []json.RawMessage
	if json.Unmarshal(given, &items) != nil || len(items) == 0 {
		return nil
	}
	var all []wrongValue
	for _, x := range wrongValues(s.Items, items[0], path+".0", depth+1) {
		if list, err := json.Marshal(append([]json.RawMessage{x.value}, items[1:]...)); err == nil {
			all = append(all, wrongValue{x.name, list, x.severity})
		}
	}
	copies := func(name string, n int) {
		list := "[" + string(items[0]) + strings.Repeat(","+string(items[0]), n-1) + "]"
		all = append(all, wrongValue{name + " for " + path, json.RawMessage(list), review.Suggestion})
	}
	if s.Unique && s.MinItems <= maxCopies && (s.MaxItems == nil || *s.MaxItems > 1) {
		copies("an item twice", max(2, s.MinItems))
	}
	if s.MaxItems != nil && *s.MaxItems >= 0 && *s.MaxItems < maxCopies {
		copies("more items", *s.MaxItems+1)
	}
	return all
}

// maxWrongArguments is the number of wrong arguments that a tool is called with.
const maxWrongArguments = 16

func checkWrongArguments(t *review.T) {
	asks, reading := inputs.Calls(t)
	for i, f := range append(asks, reading...) {
		if i == len(asks) {
			t.Oracle = nil // the findings below belong to no flow
		}
		if own := t.Call(f.Call(client.FirstUser)); !own.Succeeded() {
			t.Skip("control: an honest call: %v", own)
			continue
		}
		all := wrongValues(f.Offer.Input, f.Arguments, "arguments", 0)
		all = slices.DeleteFunc(all, func(x wrongValue) bool { return f.Offer.Allows(x.value) })
		slices.SortStableFunc(all, func(a, b wrongValue) int { return strings.Compare(string(b.severity), string(a.severity)) }) // warnings first
		for _, x := range all[:min(len(all), maxWrongArguments)] {
			call := f.Call(client.FirstUser)
			call.Arguments = x.value
			if a, ok := t.Ask(f.Target+": "+x.name, call); ok && a.Succeeded() {
				t.Fault(f.Target+": "+x.name, x.severity, "an argument that the schema does not allow reaches the handler: "+x.name, a)
				if x.severity == review.Warning {
					return
				}
				break
			}
		}
		call := f.Call(client.FirstUser)
		call.Arguments = json.RawMessage("null")
		a := t.Call(call)
		switch t.Trials++; {
		case a.Kind == client.Broken && a.Status >= 500:
			t.Fault(f.Target+": null", review.Warning, "arguments that are null are answered by a fault of the server", a)
			return
		case a.Code == -32603:
			t.Fault(f.Target+": null", review.Suggestion, "arguments that are null are refused as an internal error", a)
			return
		}
	}
	t.SkipUntried("no tool that asks first is known; --effects allows those that read only")
}
