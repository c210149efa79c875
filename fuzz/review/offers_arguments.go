package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// variousArguments are arguments that the schema of a tool allows: the likeliest, all that
// it names, others, the least, and long texts.
func (o Offer) variousArguments() []json.RawMessage {
	base := samples(o.Input, 0)
	all := append(base[:min(len(base), 3)], fullSample(o.Input, 0), leastSample(o.Input, base[0]), longSample(o.Input, base[0]))
	if other := otherArguments(base[0], o.Input); other != nil {
		all = append(all, other)
	}
	var distinct []json.RawMessage
	for _, x := range all {
		if !slices.ContainsFunc(distinct, func(y json.RawMessage) bool { return string(x) == string(y) }) {
			distinct = append(distinct, x)
		}
	}
	return distinct
}

// leastSample replaces the numbers, texts, truths and lists of a value by zero, empty and
// false ones that the schema allows.
func leastSample(raw, given json.RawMessage) json.RawMessage {
	s := parseSchema(raw)
	if m := members(given); m != nil {
		for name := range m {
			m[name] = leastSample(s.Properties[name], m[name])
		}
		return object(m)
	}
	least := map[string]string{"integer": "0", "number": "0", "string": `""`, "boolean": "false", "array": "[]"}[s.typeOf()]
	if least == "" || misfit(raw, valueOf(json.RawMessage(least))) != "" {
		return given
	}
	return json.RawMessage(least)
}

// longSample replaces the texts of a value by long ones that the schema allows.
func longSample(raw, given json.RawMessage) json.RawMessage {
	s := parseSchema(raw)
	if m := members(given); m != nil {
		for name := range m {
			m[name] = longSample(s.Properties[name], m[name])
		}
		return object(m)
	}
	long := strings.Repeat("long ", 200)
	if s.MaxLength != nil {
		long = long[:max(0, min(len(long), *s.MaxLength))]
	}
	if s.typeOf() != "string" || s.Format != "" || misfit(raw, long) != "" {
		return given
	}
	return quote(long)
}

// valueOf reads a value of our own.
func valueOf(raw json.RawMessage) (v any) {
	_ = json.Unmarshal(raw, &v) // ours
	return v
}

// A wrongValue is a value that a schema does not allow.
type wrongValue struct {
	name     string
	value    json.RawMessage
	severity Severity
}

// wrongValues are values that differ from one in a single place, and that the schema does
// not allow there. Nested places come first, since careless servers leave them out.
func wrongValues(raw, given json.RawMessage, path string, depth int) []wrongValue {
	s := parseSchema(raw)
	if len(s.types()) > 1 || s.Const != nil || len(s.OneOf)+len(s.AnyOf) > 0 || depth > maxFull {
		return nil
	}
	var all []wrongValue
	add := func(name, value string, severity Severity) {
		all = append(all, wrongValue{name, json.RawMessage(value), severity})
	}
	kind := s.typeOf()
	if m := members(given); m != nil && kind == "object" {
		for _, name := range sortedKeys(m) {
			for _, x := range wrongValues(s.Properties[name], m[name], path+"."+name, depth+1) {
				x.value = object(with(m, name, x.value))
				all = append(all, x)
			}
		}
		slices.SortStableFunc(all, func(a, b wrongValue) int { return strings.Count(b.name, ".") - strings.Count(a.name, ".") })
		for _, name := range s.Required {
			less := with(m, name, nil)
			delete(less, name)
			all = append(all, wrongValue{path + " without " + name, object(less), Warning})
		}
		return all
	}
	var items []json.RawMessage
	if kind == "array" && json.Unmarshal(given, &items) == nil && len(items) > 0 {
		for _, x := range wrongValues(s.Items, items[0], path+".0", depth+1) {
			if list, err := json.Marshal(append([]json.RawMessage{x.value}, items[1:]...)); err == nil {
				add(x.name, string(list), x.severity)
			}
		}
	}
	if wrong := map[string]string{"string": "[5]", "number": `"a"`, "integer": `"a"`, "boolean": `"a"`, "object": "5", "array": "5"}[kind]; wrong != "" {
		add("another type for "+path, wrong, Warning)
	}
	if len(s.Enum) > 0 && kind == "string" {
		add("none of the list for "+path, `"sealab-none"`, Warning)
	}
	if s.Maximum != nil {
		add("more than the maximum for "+path, fmt.Sprintf("%.0f", *s.Maximum+1), Suggestion)
	}
	if s.Minimum != nil {
		add("less than the minimum for "+path, fmt.Sprintf("%.0f", *s.Minimum-1), Suggestion)
	}
	if s.MaxLength != nil && *s.MaxLength < 5000 {
		add("a longer text for "+path, string(quote(strings.Repeat("a", *s.MaxLength+1))), Suggestion)
	}
	return all
}

// maxWrong is the number of wrong arguments that a tool is called with.
const maxWrong = 16

func wrongArguments(t *T) {
	asks, reading := t.judging()
	for i, f := range append(asks, reading...) {
		if i == len(asks) {
			t.o = nil // of the findings below
		}
		if own := t.r.client.call(t.ctx, f.call(first)); own.Kind != asked && own.Kind != completed {
			t.skip("control: an honest call: %v", own)
			continue
		}
		all := wrongValues(f.offer.Input, f.Arguments, "arguments", 0)
		all = slices.DeleteFunc(all, func(x wrongValue) bool { return misfit(f.offer.schema(), valueOf(x.value)) == "" })
		slices.SortStableFunc(all, func(a, b wrongValue) int { return strings.Compare(string(b.severity), string(a.severity)) }) // warnings first
		for _, x := range all[:min(len(all), maxWrong)] {
			call := f.call(first)
			call.Arguments = x.value
			a, ok := t.ask(f.Target+": "+x.name, call)
			if ok && (a.Kind == asked || a.Kind == completed) {
				t.fault(f.Target+": "+x.name, x.severity, "an argument that the schema does not allow reaches the handler: "+x.name, a)
				if x.severity == Warning {
					return
				}
				break
			}
		}
		call := f.call(first)
		call.Arguments = json.RawMessage("null")
		a := t.r.client.call(t.ctx, call)
		switch t.trials++; {
		case a.Kind == broken && a.Status >= 500:
			t.fault(f.Target+": null", Warning, "arguments that are null are answered by a fault of the server", a)
			return
		case a.Code == -32603:
			t.fault(f.Target+": null", Suggestion, "arguments that are null are refused as an internal error", a)
			return
		}
	}
	if t.trials == 0 {
		t.skip("no tool that asks first is known; --effects allows those that read only")
	}
}

// judging are the calls whose arguments are changed: of a tool that asks, and with
// effects of tools that read only, with all arguments that they name.
func (t *T) judging() (asks, reading []Flow) {
	for _, o := range t.r.oracles {
		if o.flow.Method == "tools/call" && asks == nil {
			t.o, asks = o, []Flow{o.flow}
		}
	}
	for _, tool := range t.r.Report.Server.Tools {
		if len(reading) < maxCrossed && t.r.opts.Effects && tool.readOnly() && tool.Name != t.r.opts.Slow {
			whole := fullSample(tool.Input, 0)
			if misfit(tool.schema(), valueOf(whole)) != "" {
				whole = samples(tool.Input, 0)[0]
			}
			reading = append(reading, Flow{Method: "tools/call", Target: tool.Name, Arguments: whole, offer: tool})
		}
	}
	return asks, reading
}

// schema is the inputSchema as the server wrote it.
func (o Offer) schema() json.RawMessage {
	if o.raw != nil {
		return o.raw
	}
	return o.Input
}
