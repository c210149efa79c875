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
	"sealab/fuzz/review/tokens"
)

// toolChecks are the checks of tools.
var toolChecks = []review.Check{
	{
		ID: "T-UNKNOWN", Name: "an unknown tool", Severity: review.Warning, Category: "schema",
		Sent: "calls of tools that are not listed, some with names of JavaScript prototype members; calls of tools " +
			"and prompts that ask, with the name in the other case, with a full-width character, or with a space " +
			"at the end",
		Want:   "answers error -32602",
		Source: review.SourceTools,
		Impact: "the model takes a protocol error for a result of the tool; or a client passes a filter by another " +
			"spelling of the name",
		Fix: "look up the exact name among the listed ones, and answer -32602 if it is unknown",
		Run: checkUnknownTool,
	},
	{
		ID: "T-SCHEMA", Name: "invalid schemas or names of tools", Severity: review.Warning, Category: "schema",
		Sent: "nothing; the check inspects tools/list",
		Want: "gives each tool a valid JSON Schema of type object and a unique name of 1 to 128 letters, digits, " +
			"and the characters _ - and .",
		Source: review.SourceTools,
		Impact: "clients refuse the tool",
		Fix:    "correct the schema or the name of the tool",
		Run:    checkToolSchemas,
	},
	{
		ID: "T-HIDDEN", Name: "invisible texts, keys and scripts in lists, and keys in contents", Severity: review.Warning, Category: "injection",
		Sent: "two reads of each resource and prompt, and, with --effects, two calls of each read-only tool that takes no file; " +
			"the check inspects these and the texts of the lists and of server/discover",
		Want: "contains no Unicode tag characters, direction overrides or runs of zero-width characters, no key " +
			"of a well-known form (unless it is marked as an example or is masked), and no icon that runs a script",
		Source: "CWE-200, CWE-312; Unicode TR 36, section 3; revision 2026-07-28, schema, icons",
		Impact: "the model reads instructions that its user cannot see, or every client reads a secret",
		Fix:    "remove invisible characters, keys and script URLs from the texts",
		Run:    checkHiddenTexts,
	},
	{
		ID: "T-TYPE", Name: "arguments that violate the schema", Severity: review.Warning, Category: "schema",
		Sent: "calls of a tool that asks and, with --effects, of read-only tools, with one value changed: another " +
			"type, missing, outside the enum or the bounds, too long, repeated or too many list items; arguments " +
			"null",
		Want:   "answers a tool error or -32602",
		Source: review.SourceTools + ", MUST validate",
		Impact: "the handler works on values that its schema excludes",
		Fix:    "validate arguments against the schema before the handler",
		Run:    checkWrongArguments,
	},
	{
		ID: "T-EXTRA", Name: "an argument that the schema does not define", Era: "modern", Flow: true, Severity: review.Suggestion, Category: "schema",
		Sent: "a call of a tool that asks, with one additional argument; with --effects, calls of tools that change " +
			"something, whose questions are answered, with new values for members that a read-only tool or a resource " +
			"shows beside the arguments of the tool, or beside the members of an argument that is an object",
		Want: "refuses the argument if the schema has additionalProperties false; otherwise refuses or accepts it; " +
			"never answers with an internal error; sets no member by an argument that the schema does not define",
		Source: "JSON Schema 2020-12, additionalProperties; CWE-915",
		Impact: "a mistake of a client goes unnoticed; a user sets the own role, or a price",
		Fix:    "set additionalProperties to false, and validate; copy only the arguments that the schema defines",
		Run:    checkExtraArgument,
	},
	{
		ID: "T-PROTO", Name: "arguments named __proto__ and constructor", Era: "modern", Flow: true, Severity: review.Warning, Category: "security",
		Sent: "calls of a tool that asks, with an argument named __proto__ or constructor, after each an unaltered " +
			"call; calls with such members in every object among the arguments, of read-only tools and carried " +
			"out with --effects; after each a request that lacks a required member which such a prototype would supply",
		Want:   "refuses or ignores the argument, and answers other requests as before",
		Source: "CWE-1321",
		Impact: "a client changes the prototype of all JavaScript objects, and with it the requests of other clients",
		Fix:    "read only the arguments that the schema names",
		Run:    checkPrototypeArguments,
	},
	{
		ID: "T-OUT", Name: "results that violate the output schema", Effects: true, Severity: review.Warning, Category: "schema",
		Sent: "calls of each read-only tool that has an outputSchema, with several arguments, including empty and " +
			"long ones; the check also inspects the results of tools that ask",
		Want:   "returns structuredContent that is valid under the outputSchema",
		Source: review.SourceTools,
		Impact: "clients refuse the result",
		Fix:    "return structuredContent in every result, and validate it",
		Run:    checkOutputSchemas,
	},
}

func checkUnknownTool(t *review.T) {
	if len(t.Report.Server.Tools) == 0 {
		t.Skip("the server lists no tools")
		return
	}
	a, ok := t.Ask("unknown", client.UnknownCall)
	switch {
	case !ok:
	case a.Kind != client.Failed || a.Code != -32602:
		t.Fault("unknown", review.Suggestion, "an unknown tool is not refused with -32602", a)
	case a.Status >= 500:
		t.Fault("unknown", review.Suggestion, fmt.Sprintf("an unknown tool is refused with status %d", a.Status), a)
	default:
		inheritedTools(t)
	}
	respelledNames(t)
}

// respelledNames calls tools and prompts that ask under other spellings of their names. It skips
// spellings that another offer has as its name.
func respelledNames(t *review.T) {
	for _, f := range t.Flows {
		if f.Method == "resources/read" || t.Only != "" && !strings.HasPrefix(t.Only, f.Target) {
			continue
		}
		for _, name := range []string{tokens.SwapCase(f.Target), tokens.FullWidth(f.Target), f.Target + " "} {
			if t.Report.Server.Offer(client.Flow{Target: name}).Name != "" || name == f.Target {
				continue
			}
			call := f.Call(client.FirstUser)
			call.Target = name
			if a := t.Tried(t.Call(call)); a.Kind == client.Asked && a.State != nil {
				t.Fault(f.Target, review.Warning, fmt.Sprintf("%s answers to %s as well: whoever filters by name misses it", client.Short(f.Target, 60), client.Short(name, 120)), a)
				return
			}
		}
	}
}

// inheritedTools calls tools with names that all objects inherit in some languages.
func inheritedTools(t *review.T) {
	for _, name := range []string{"constructor", "__proto__", "toString"} {
		call := client.UnknownCall
		call.Target = name
		listed := slices.ContainsFunc(t.Report.Server.Tools, func(o client.Offer) bool { return o.Name == name })
		if a := t.Call(call); !listed && (a.Status >= 500 && a.Status != 503 || a.Code == -32603 || a.Kind == client.Completed) {
			t.Fault(name, review.Warning, "an unknown tool named "+name+" is not refused as others are", a)
			return
		}
	}
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func checkToolSchemas(t *review.T) {
	seen := map[string]bool{}
	for _, tool := range t.Report.Server.Tools {
		t.Trials++
		issue, severity := schemaFault(tool, t.Modern()), review.Warning
		switch {
		case issue != "":
		case seen[tool.Name]:
			issue = "the name stands twice"
		case !toolName.MatchString(tool.Name):
			issue, severity = "the name has other characters than letters, digits, _ - and .", review.Suggestion
		}
		seen[tool.Name] = true
		if issue != "" {
			t.Refute(review.Finding{Case: tool.Name, Severity: severity, Issue: fmt.Sprintf("tool %s: %s", client.Short(tool.Name, 60), issue),
				Evidence: client.Short(string(tool.Input), 200), Want: "the schema", Got: issue})
		}
	}
	t.SkipUntried("the server lists no tools")
}

func checkExtraArgument(t *review.T) {
	if assignsMembers(t); len(t.Findings) > 0 {
		return
	}
	f, ok := t.AskingTool()
	if !ok {
		return
	}
	closed := string(jsondoc.Members(f.Offer.Input)["additionalProperties"]) == "false"
	const name = "sealab_extra"
	a, ok := t.Ask(name, f.WithArgument(name, json.RawMessage(`{"a":1}`)).Call(client.FirstUser))
	switch {
	case !ok:
	case a.Code == -32603:
		t.Fault(name, review.Warning, "an unknown argument is answered by an internal error", a)
	case closed && a.Succeeded():
		t.Fault(name, review.Suggestion, "an unknown argument is accepted although the schema allows none", a)
	}
}

func checkPrototypeArguments(t *review.T) {
	f, ok := t.AskingTool()
	if !ok {
		return
	}
	for _, name := range jsondoc.SortedKeys(review.Polluting) {
		call := f.WithArgument(name, review.Polluting[name]).Call(client.FirstUser)
		if b := t.Call(f.Call(client.FirstUser)); b.Kind != client.Asked {
			t.Skip("control: an honest call: %v", b)
			return
		}
		var a client.Answer
		after, polluted := t.Pollutes(func() { a = t.Tried(t.Call(call)) })
		b := t.Call(f.Call(client.FirstUser))
		switch {
		case polluted:
			t.Fault(name, review.Critical, "an argument named "+name+" changes how requests of everybody are read", after)
			return
		case b.Kind != client.Asked && !b.Withheld():
			t.Fault(name, review.Warning, fmt.Sprintf("after an argument named %s an honest call is answered otherwise: %v", name, b), a)
			return
		case a.Code == -32603 || a.Kind == client.Broken && a.Status >= 500:
			t.Fault(name, review.Warning, "an argument named "+name+" is answered by an internal error", a)
			return
		}
	}
	pollutesInside(t)
}

// pollutesInside makes calls with polluting members in every object among their arguments, and with
// those among the arguments themselves.
func pollutesInside(t *review.T) {
	const name = "objects among arguments"
	if !t.Selected(name) {
		return
	}
	var evidence []string
	after, polluted := t.Pollutes(func() {
		for _, x := range toolCalls(t) {
			inside := pollutedMembers(x.flow)
			for _, arguments := range []json.RawMessage{inside, jsondoc.Merged(inside, jsondoc.Object(review.Polluting))} {
				evidence = append(evidence, fmt.Sprintf("%s with %s -> %v", x.flow.Target, client.Short(string(arguments), 300), t.Tried(x.call(x.flow.With(arguments)))))
			}
		}
	})
	if polluted {
		t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "members named __proto__ and constructor in objects among the arguments change how requests of everybody are read",
			Evidence: fmt.Sprintf("%s; then %s, refused before", strings.Join(evidence, "; "), review.ExchangeText(after)), Want: "refused", Got: "accepted"})
	}
}

// A toolCall is a call of a tool and the function that makes it.
type toolCall struct {
	flow client.Flow
	call func(client.Flow) client.Answer
}

// toolCalls returns the calls of tools that ask, carried out with effects, and of read-only tools.
func toolCalls(t *review.T) []toolCall {
	var all []toolCall
	begin := func(f client.Flow) client.Answer { return t.Call(f.Call(client.FirstUser)) }
	for _, o := range t.Oracles {
		switch {
		case o.Flow.Method != "tools/call":
		case t.Options.Effects && o.Flow.Last != nil:
			all = append(all, toolCall{o.Flow, func(f client.Flow) client.Answer { return t.Fresh(f, o.User) }})
		default:
			all = append(all, toolCall{o.Flow, begin})
		}
	}
	for _, tool := range t.Readers() {
		all = append(all, toolCall{t.FlowOf(tool), begin})
	}
	return all
}

// pollutedMembers returns the arguments of a flow with polluting members in all objects among them.
// It adds the objects that the schema names.
func pollutedMembers(f client.Flow) json.RawMessage {
	all := map[string]json.RawMessage{}
	for name, s := range jsondoc.Fields(f.Offer.Input) {
		if s.TypeOf() == "object" {
			all[name] = withPolluting(json.RawMessage("{}"))
		}
	}
	for name, v := range jsondoc.Members(f.Arguments) {
		all[name] = withPolluting(v)
	}
	return jsondoc.Object(all)
}

// withPolluting returns a value with polluting members in all of its objects.
func withPolluting(v json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	m := jsondoc.Members(v)
	switch {
	case m != nil:
		for name := range m {
			m[name] = withPolluting(m[name])
		}
		return jsondoc.Merged(jsondoc.Object(m), jsondoc.Object(review.Polluting))
	case json.Unmarshal(v, &items) == nil && len(items) > 0:
		for i := range items {
			items[i] = withPolluting(items[i])
		}
		if list, err := json.Marshal(items); err == nil {
			return list
		}
	}
	return v
}

// callViolatesOutput calls a tool and reports whether its result violates its outputSchema.
func callViolatesOutput(t *review.T, tool client.Offer, arguments json.RawMessage) bool {
	a, ok := t.Ask(tool.Name, t.FlowOf(tool).With(arguments).Call(client.FirstUser))
	if !ok || a.Kind != client.Completed {
		return !ok
	}
	return violatesOutput(t, tool, a)
}

// violatesOutput reports whether the result of a tool violates its outputSchema.
func violatesOutput(t *review.T, tool client.Offer, a client.Answer) bool {
	var content any
	if raw := jsondoc.Members(a.Result)["structuredContent"]; raw == nil || json.Unmarshal(raw, &content) != nil {
		t.Fault(tool.Name, review.Warning, "a tool with an outputSchema returns no structuredContent", a)
		return true
	}
	issue := jsondoc.Misfit(tool.Output, content)
	if issue != "" {
		t.Fault(tool.Name, review.Warning, "structuredContent is not as the outputSchema says: "+client.Short(issue, 160), a)
	}
	return issue != ""
}

func checkOutputSchemas(t *review.T) {
	for _, tool := range t.Report.Server.Tools {
		if tool.Output == nil || string(tool.Output) == "null" || !tool.IsReadOnly() {
			continue
		}
		for _, arguments := range variousArguments(tool) {
			if callViolatesOutput(t, tool, arguments) {
				break
			}
		}
	}
	for _, o := range t.Oracles {
		if f := o.Flow; f.Method == "tools/call" && f.Offer.Output != nil && string(f.Offer.Output) != "null" && o.Good.Kind == client.Completed {
			t.Trials++
			violatesOutput(t, f.Offer, o.Good)
		}
	}
	t.SkipUntried("no tool has an outputSchema and claims to read only")
}

// schemaFault returns the fault in a tool's schemas as the server sent them, or "".
func schemaFault(o client.Offer, modern bool) string {
	switch {
	case jsondoc.Members(o.Input) == nil:
		return "inputSchema is not an object"
	case jsondoc.ParseSchema(o.Input).TypeOf() != "object":
		return "inputSchema does not have the type object"
	}
	for _, x := range []struct {
		name   string
		schema json.RawMessage
	}{{"inputSchema", o.Raw}, {"outputSchema", o.Output}} {
		if err := jsondoc.SchemaFault(x.schema, modern); err != nil {
			return x.name + ": " + client.Short(err.Error(), 160)
		}
	}
	return ""
}
