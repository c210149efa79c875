package review

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const toolsSpec = "revision 2026-07-28, server/tools"

// offers are the checks of tools.
var offers = []Check{
	{ID: "T-UNKNOWN", Name: "an unknown tool", Severity: Warning, Category: "schema", Sent: "calls of tools that are not listed, one with the name of a prototype; tools and prompts that ask under other spellings of their names", Want: "error -32602", Source: toolsSpec,
		Impact: "the model takes a protocol error for a result of the tool", Fix: "answer -32602", Run: unknownTool},
	{ID: "T-SCHEMA", Name: "the schemas and names of tools", Severity: Warning, Category: "schema", Sent: "nothing; tools/list is checked", Want: "an object schema that JSON Schema allows; names of 1 to 128 letters, digits, _ - .; no name twice", Source: toolsSpec,
		Impact: "clients refuse the tool", Fix: "give each tool an object schema and a plain name", Run: toolSchemas},
	{ID: "T-HIDDEN", Name: "texts that nobody sees", Severity: Warning, Category: "injection", Sent: "nothing; the texts of the lists are checked", Want: "no tag characters, no overrides of the direction, no icon that runs a script", Source: "Unicode TR 36, section 3; revision 2026-07-28, schema, icons",
		Impact: "the model reads instructions that its user cannot see", Fix: "write texts as they are to be read", Run: hiddenTexts},
	{ID: "T-TYPE", Name: "arguments that the schema does not allow", Severity: Warning, Category: "schema", Sent: "calls of a tool that asks first, and with --effects of tools that read only, whose arguments are of another type, missing, or out of bounds in one place", Want: "an error of the tool, or -32602", Source: toolsSpec + ", MUST validate",
		Impact: "the handler works on values that its schema excludes", Fix: "validate arguments against the schema before the handler", Run: wrongArguments},
	{ID: "T-EXTRA", Name: "an argument that the schema does not know", Era: "modern", Flow: true, Severity: Suggestion, Category: "schema", Sent: "one more argument", Want: "refused if the schema says so, else a choice; never an internal error", Source: "JSON Schema 2020-12, additionalProperties",
		Impact: "a mistake of the client goes unnoticed", Fix: "set additionalProperties to false and validate", Run: extraArgument},
	{ID: "T-PROTO", Name: "an argument with the name of a prototype", Era: "modern", Flow: true, Severity: Warning, Category: "security", Sent: "arguments named __proto__ and constructor", Want: "refused or ignored, and the server goes on to answer", Source: "CWE-1321",
		Impact: "a client changes the objects of other requests", Fix: "read arguments by the names of the schema alone", Run: prototypeArguments},
	{ID: "T-OUT", Name: "results that their schema does not allow", Effects: true, Severity: Warning, Category: "schema", Sent: "calls of each tool with an outputSchema that reads only, with several arguments, also empty and long ones", Want: "structuredContent that the schema allows", Source: toolsSpec, Impact: "clients refuse the result", Fix: "return structuredContent in every result, and validate it", Run: outputSchemas},
}

// has reports whether a server declares a capability.
func (s Server) has(capability string) bool {
	return slices.Contains(s.Capabilities, capability)
}

// ask sends a call and skips the check if there is no answer.
func (t *T) ask(name string, c Call) (Answer, bool) {
	a := t.r.client.call(t.ctx, c)
	if !a.conclusive() {
		t.skip("%s: %v", name, a)
		return a, false
	}
	t.seen(variant{name: name}, a)
	return a, true
}

func (t *T) fault(name string, severity Severity, issue string, a Answer) {
	t.refute(finding(name, severity, issue, a))
}

func finding(name string, severity Severity, issue string, a Answer) Finding {
	return Finding{Case: name, Severity: severity, Issue: issue, Evidence: fmt.Sprintf("%s -> %v", short(string(bodyOf(a)), 400), a), Want: "see the check", Got: a.going()}
}

func unknownTool(t *T) {
	if len(t.r.Report.Server.Tools) == 0 {
		t.skip("the server lists no tools")
		return
	}
	a, ok := t.ask("unknown", unknownCall)
	switch {
	case !ok:
	case a.Kind != failed || a.Code != -32602:
		t.fault("unknown", Suggestion, "an unknown tool is not refused with -32602", a)
	case a.Status >= 500:
		t.fault("unknown", Suggestion, fmt.Sprintf("an unknown tool is refused with status %d", a.Status), a)
	default:
		t.inheritedTools()
	}
	t.respelledNames()
}

// respelledNames calls what asks under other spellings of its name. A spelling that another
// offer has is left out.
func (t *T) respelledNames() {
	for _, f := range t.r.flows {
		if f.Method == "resources/read" || t.only != "" && !strings.HasPrefix(t.only, f.Target) {
			continue
		}
		for _, name := range []string{swapCase(f.Target), fullWidth(f.Target), f.Target + " "} {
			if t.r.Report.Server.offer(Flow{Target: name}).Name != "" || name == f.Target {
				continue
			}
			call := f.call(first)
			call.Target = name
			a := t.r.client.call(t.ctx, call)
			if t.seen(variant{name: name}, a); a.Kind == asked && a.State != nil {
				t.fault(f.Target, Warning, fmt.Sprintf("%s answers to %s as well: whoever filters by name misses it", short(f.Target, 60), short(name, 120)), a)
				return
			}
		}
	}
}

// inheritedTools calls tools with names that every object of some languages has.
func (t *T) inheritedTools() {
	for _, name := range []string{"constructor", "__proto__", "toString"} {
		call := unknownCall
		call.Target = name
		listed := slices.ContainsFunc(t.r.Report.Server.Tools, func(o Offer) bool { return o.Name == name })
		if a := t.r.client.call(t.ctx, call); !listed && (a.Status >= 500 && a.Status != 503 || a.Code == -32603 || a.Kind == completed) {
			t.fault(name, Warning, "an unknown tool named "+name+" is not refused as others are", a)
			return
		}
	}
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func toolSchemas(t *T) {
	seen := map[string]bool{}
	for _, tool := range t.r.Report.Server.Tools {
		t.trials++
		issue, severity := tool.schemaFault(), Warning
		switch {
		case issue != "":
		case seen[tool.Name]:
			issue = "the name stands twice"
		case !toolName.MatchString(tool.Name):
			issue, severity = "the name has other characters than letters, digits, _ - and .", Suggestion
		}
		seen[tool.Name] = true
		if issue != "" {
			t.refute(Finding{Case: tool.Name, Severity: severity, Issue: fmt.Sprintf("tool %s: %s", short(tool.Name, 60), issue), Evidence: short(string(tool.Input), 200), Want: "the schema", Got: issue})
		}
	}
	if t.trials == 0 {
		t.skip("the server lists no tools")
	}
}

// askingTool is the first flow of a tool, which asks before it acts.
func (t *T) askingTool() (Flow, bool) {
	for _, o := range t.r.oracles {
		if o.flow.Method == "tools/call" {
			t.o = o
			return o.flow, true
		}
	}
	t.skip("no tool that asks first is known")
	return Flow{}, false
}

func extraArgument(t *T) {
	f, ok := t.askingTool()
	if !ok {
		return
	}
	closed := string(members(f.offer.Input)["additionalProperties"]) == "false"
	for _, name := range []string{"sealab_extra"} {
		call := f.call(first)
		call.Arguments = object(with(members(f.Arguments), name, json.RawMessage(`{"a":1}`)))
		a, ok := t.ask(name, call)
		switch {
		case !ok:
			return
		case a.Code == -32603:
			t.fault(name, Warning, "an unknown argument is answered by an internal error", a)
		case closed && (a.Kind == asked || a.Kind == completed):
			t.fault(name, Suggestion, "an unknown argument is accepted although the schema allows none", a)
		}
	}
}

func prototypeArguments(t *T) {
	f, ok := t.askingTool()
	if !ok {
		return
	}
	for _, name := range []string{"__proto__", "constructor"} {
		call := f.call(first)
		call.Arguments = object(with(members(f.Arguments), name, json.RawMessage(`{"polluted":true,"prototype":{"polluted":true}}`)))
		if b := t.r.client.call(t.ctx, f.call(first)); b.Kind != asked {
			t.skip("control: an honest call: %v", b)
			return
		}
		a := t.r.client.call(t.ctx, call)
		t.seen(variant{name: name}, a)
		b := t.r.client.call(t.ctx, f.call(first))
		switch {
		case b.Kind != asked && !(b.Kind == throttled || b.Kind == noBudget):
			t.fault(name, Warning, fmt.Sprintf("after an argument named %s an honest call is answered otherwise: %v", name, b), a)
			return
		case a.Code == -32603 || a.Kind == broken && a.Status >= 500:
			t.fault(name, Warning, "an argument named "+name+" is answered by an internal error", a)
			return
		}
	}
}

// misfits calls a tool and reports whether its result is not as its outputSchema says.
func (t *T) misfits(tool Offer, arguments json.RawMessage) bool {
	a, ok := t.ask(tool.Name, Call{Method: "tools/call", Target: tool.Name, Arguments: arguments})
	if !ok || a.Kind != completed {
		return !ok
	}
	var content any
	if raw := members(a.Result)["structuredContent"]; raw == nil || json.Unmarshal(raw, &content) != nil {
		t.fault(tool.Name, Warning, "a tool with an outputSchema returns no structuredContent", a)
		return true
	}
	issue := misfit(tool.Output, content)
	if issue != "" {
		t.fault(tool.Name, Warning, "structuredContent is not as the outputSchema says: "+issue, a)
	}
	return issue != ""
}

func outputSchemas(t *T) {
	for _, tool := range t.r.Report.Server.Tools {
		if tool.Output == nil || string(tool.Output) == "null" || !tool.readOnly() {
			continue
		}
		for _, arguments := range tool.variousArguments() {
			if t.misfits(tool, arguments) {
				break
			}
		}
	}
	if t.trials == 0 {
		t.skip("no tool has an outputSchema and claims to read only")
	}
}
