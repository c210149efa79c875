package offers

import (
	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// hints are the checks of what tools claim of themselves.
var hints = []review.Check{
	{
		ID: "T-READS", Name: "a tool that claims to read only", Effects: true, Severity: review.Warning, Category: "security",
		Sent:   "calls of each tool that claims to read only, between reads of the others and of resources",
		Want:   "what the others tell stays the same",
		Source: "revision 2026-07-28, schema, ToolAnnotations",
		Impact: "a client runs the tool without asking its user, and something is changed",
		Fix:    "leave readOnlyHint out, or change nothing",
		Run:    readsOnly,
	},
}

// readsOnly calls tools that claim to read only. It refutes if the answer of another one, or
// a resource, changes with the call alone, twice.
func readsOnly(t *review.T) {
	var tools, observers []client.Call
	for _, o := range t.Report.Server.Tools {
		if o.IsReadOnly() && o.Name != t.Options.Slow && len(tools) < maxCrossed {
			tools = append(tools, client.Call{Method: "tools/call", Target: o.Name, Arguments: jsondoc.Samples(o.Input, 0)[0]})
		}
	}
	observers = append(observers, tools...)
	for _, r := range t.Report.Server.Resources[:min(len(t.Report.Server.Resources), maxCrossed)] {
		observers = append(observers, client.Call{Method: "resources/read", Target: r.URI})
	}
	for _, tool := range tools {
		for _, observer := range observers {
			if observer.Target == tool.Target && observer.Method == tool.Method || !t.Selected(tool.Target) {
				continue
			}
			if a, is := changes(t, tool, observer); is {
				t.Fault(tool.Target, review.Warning, "a tool that claims to read only changes what "+client.Short(observer.Target, 60)+" tells", a)
				return
			}
		}
	}
	if t.Trials == 0 {
		t.Skip("the server lists no two tools or resources that can be read")
	}
}

// changes reports whether a call changes the answer to another one that is steady without it,
// and returns that answer.
func changes(t *review.T, call, observer client.Call) (a client.Answer, is bool) {
	steady := func() (string, bool) {
		one := t.Call(observer)
		t.Call(client.ListTools)
		a = t.Tried(t.Call(observer))
		return string(a.Result), one.Kind == client.Completed && string(one.Result) == string(a.Result)
	}
	before, ok := steady()
	for range 2 {
		if !ok || t.Call(call).Kind != client.Completed {
			return a, false
		}
		var after string
		if after, ok = steady(); !ok || after == before {
			return a, false
		}
		before = after
	}
	return a, true
}
