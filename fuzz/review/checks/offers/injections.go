package offers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// injectionChecks is the check of texts that become a part of a query, a command or a format.
var injectionChecks = []review.Check{
	{
		ID: "T-INJECT", Name: "a text that is read as a query, a command or a format", Severity: review.Critical, Category: "injection", Long: true,
		Sent: "texts in arguments of a tool that asks and of prompts, in parameters of resource templates, in " +
			"completion/complete of both and, with --effects, in arguments of read-only tools and of calls that are " +
			"carried out: one and two apostrophes; conditions behind a quotation mark that are true and false; " +
			"commands of a shell behind a line feed and other separators; members of the placeholders that the " +
			"tool names, of its arguments and of {0}; directives of printf; expressions of programming languages " +
			"that name a type, unless the tool runs programs; if the input takes XML, documents with external entities; " +
			"if it names a column to sort by, conditions of a query that are true and false; with --effects, in " +
			"arguments of tools that import: data that calls a function, in several formats, and archives of " +
			"files with .. in their names",
		Want: "treats the text as a value: fails for no apostrophe, does not evaluate the condition or more than " +
			"arithmetic, runs no command, resolves no member of a placeholder, reads no entity, calls no function, and " +
			"writes no file outside of its folder",
		Source: "CWE-22, CWE-78, CWE-89, CWE-95, CWE-134, CWE-502, CWE-611, CWE-1336",
		Impact: "a client reads the data behind the query, runs commands, reads variables or writes files of the server",
		Fix: "pass texts as query parameters and as arguments of a process without a shell, match whole texts " +
			"instead of lines, replace only listed placeholders, parse expressions instead of evaluating them, " +
			"refuse document types in XML, read data with formats that have no calls, and compare resolved names of " +
			"files with their folder",
		Run: checkInjections,
	},
}

// maxInjections is the number of inputs that checkInjections tests.
const maxInjections = 24

func checkInjections(t *review.T) {
	all := slices.Concat(completionInputs(t), promptInputs(t), textInputs(t), templateInputs(t))
	if t.Options.Effects {
		all = append(all, carriedInputs(t)...)
	}
	t.Oracle = nil // the findings name the flows of their inputs
	for _, x := range all[:min(len(all), maxInjections)] {
		if t.Selected(x.name) && (endsQuery(t, x) || runsProgram(t, x) || formatsText(t, x) || evaluatesText(t, x) || readsEntity(t, x)) {
			return
		}
	}
	for _, x := range columnInputs(t) {
		if t.Selected(x.name) && sortsByCondition(t, x) {
			return
		}
	}
	if t.Options.Effects && readsData(t) {
		return
	}
	if t.Trials == 0 {
		t.Skip("no tool that asks, prompt or completion takes a text; --effects allows tools that read only")
	}
}

// readsData reports whether an input calls functions of serialized data or unpacks files outside of a
// folder.
func readsData(t *review.T) bool {
	for _, x := range loadingInputs(t, takesSerialized) {
		if t.Selected(x.name) && (callsFunction(t, x) || opensSerialized(t, x)) {
			return true
		}
	}
	for _, x := range loadingInputs(t, takesArchive) {
		if t.Selected(x.name) && leavesFolder(t, x) {
			return true
		}
	}
	return false
}

// promptInputs returns the texts in required arguments of prompts.
func promptInputs(t *review.T) []input {
	var all []input
	for _, f := range t.Reads() {
		given := jsondoc.Members(f.Arguments)
		for _, name := range jsondoc.SortedKeys(given) {
			var text string
			_ = json.Unmarshal(given[name], &text) // our own value
			all = append(all, input{name: f.Target + ": " + name, given: text, offer: f.Offer, send: func(text string) client.Answer {
				return t.Tried(t.Call(f.With(jsondoc.Object(jsondoc.With(given, name, jsondoc.Quote(text)))).Call(client.FirstUser)))
			}})
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// completionInputs returns the beginnings in completions of prompts and resource templates.
func completionInputs(t *review.T) []input {
	var all []input
	s := t.Report.Server
	if !s.Has("completions") {
		return nil
	}
	add := func(target string, ref map[string]string, name string) {
		send := func(text string) client.Answer {
			return t.Tried(t.Call(client.Call{Method: "completion/complete", Ref: ref, Argument: map[string]string{"name": name, "value": text}}))
		}
		given := append(slices.DeleteFunc(send("").Completions(), func(v string) bool { return v == "" }), "probe")[0]
		all = append(all, input{name: "completion of " + name + " in " + target, given: given, send: send})
	}
	for _, p := range s.Prompts[:min(len(s.Prompts), maxExpandedPrompts)] {
		for _, a := range p.Arguments {
			add(p.Name, map[string]string{"type": "ref/prompt", "name": p.Name}, a.Name)
		}
	}
	for _, x := range s.Templates[:min(len(s.Templates), maxExpandedPrompts)] {
		if name := parameterOf(x.URI); name != "" {
			add(x.URI, map[string]string{"type": "ref/resource", "uri": x.URI}, name)
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// parameterOf returns the name of the first parameter of a URI template, or "".
func parameterOf(template string) string {
	return strings.Trim(review.TemplateParameter.FindString(template), "{}+#./;?&*")
}

// templateInputs returns the texts in place of the parameters of resource templates.
func templateInputs(t *review.T) []input {
	var all []input
	s := t.Report.Server
	for _, x := range s.Templates[:min(len(s.Templates), maxExpandedPrompts)] {
		given := "probe"
		before, _, _ := strings.Cut(x.URI, "{")
		for _, r := range s.Resources {
			if rest, ok := strings.CutPrefix(r.URI, before); ok && rest != "" {
				given, _ = url.PathUnescape(rest)
			}
		}
		all = append(all, input{name: x.URI, given: given, send: func(text string) client.Answer {
			uri := review.TemplateParameter.ReplaceAllLiteralString(x.URI, url.PathEscape(text))
			return t.Tried(t.Call(client.Call{Method: "resources/read", Target: uri}))
		}})
	}
	return all
}

// carriedInputs returns the texts in arguments of calls that ask first and are carried out.
func carriedInputs(t *review.T) []input {
	var all []input
	for _, o := range t.Oracles {
		if o.Flow.Method != "tools/call" || o.Good.Kind != client.Completed {
			continue
		}
		properties, given := jsondoc.ParseSchema(o.Flow.Offer.Input).Properties, jsondoc.Members(o.Flow.Arguments)
		for _, name := range jsondoc.SortedKeys(given) {
			if text, ok := freeText(given[name], properties[name]); ok {
				all = append(all, input{name: o.Flow.Target + ", carried out: " + name, given: text, offer: o.Flow.Offer, flow: &o.Flow, send: func(text string) client.Answer {
					return t.Tried(t.Fresh(o.Flow.With(jsondoc.Object(jsondoc.With(given, name, jsondoc.Quote(text)))), o))
				}})
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// conditions are conditions behind the end of a text, for two numbers that are equal or not.
var conditions = []struct{ quote, condition string }{
	{"'", "%s' and %d=%d and 'a' like 'a"},
	{`"`, `%s" and %d=%d and "a" like "a`},
	{"'", "%s' and %d=%d and 'a'='a"},
	{"'", "%s' && %d==%d && 'a'=='a"},
	{"number", "%s and %d=%d"},
}

var digits = regexp.MustCompile(`^\d+$`)

// endsQuery reports whether an input ends a text in a query: the answer depends on a condition
// behind it, or one apostrophe is a fault and two are none.
func endsQuery(t *review.T, x input) bool {
	usual := x.send(x.given)
	if !usual.Conclusive() {
		return false
	}
	for _, c := range conditions {
		if (c.quote == "number") != digits.MatchString(x.given) {
			continue
		}
		holds := func(one, two int) (as bool, a client.Answer) {
			text := fmt.Sprintf(c.condition, x.given, one, two)
			a = x.send(text)
			return a.Kind == usual.Kind && strings.ReplaceAll(a.ShownTexts(), text, x.given) == usual.ShownTexts(), a
		}
		if usual.Refused() || !followsCondition(holds) {
			continue
		}
		_, a := holds(7919, 7919)
		refuteInput(t, x, review.Critical, "a condition behind "+c.quote+" decides about the answer: "+client.Short(fmt.Sprintf(c.condition, x.given, 7919, 7919), 80), "a condition is evaluated", a)
		return true
	}
	one := x.send(x.given + "'")
	if failsInside(one) && !failsInside(usual) && !failsInside(x.send(x.given+"''")) && failsInside(x.send(x.given+"'")) && x.send(x.given+"''").Conclusive() {
		refuteInput(t, x, review.Warning, "an apostrophe is answered by a fault of the server, and two are not", "a fault of the server", one)
		return true
	}
	return false
}

// followsCondition reports whether the usual answer comes for equal numbers and for no others, for
// two pairs of each.
func followsCondition(holds func(one, two int) (bool, client.Answer)) bool {
	for _, n := range []int{7919, 7927} {
		if as, _ := holds(n, n); !as {
			return false
		}
		if as, a := holds(n, n+2); as || !a.Conclusive() {
			return false
		}
	}
	return true
}

// failsInside reports whether an answer is an internal error.
func failsInside(a client.Answer) bool {
	return a.Code == -32603 || a.Status >= 500 && a.Status != 503 || a.Exchange != nil && sqlError.Match(a.Exchange.Body)
}

// injectedCommand writes injectedOutput if a shell runs it.
const (
	injectedCommand = "echo sealab$((13*20011))s"
	injectedOutput  = "sealab260143s"
)

// injectedPrograms are texts that write injectedOutput if they are run. The first argument is a
// usual text, the second injectedCommand.
var injectedPrograms = []struct{ name, text string }{
	{"a command on a second line", "%[1]s\n%[2]s"},
	{"a command behind a semicolon", "%[1]s;%[2]s"},
	{"a command behind a stroke", "%[1]s|%[2]s"},
	{"a command behind &&", "%[1]s&&%[2]s"},
	{"a command in parentheses", "%[1]s$(%[2]s)"},
	{"a command in backquotes", "%[1]s`%[2]s`"},
	{"a command behind an apostrophe", "%[1]s';%[2]s;'"},
	{"a command behind a quotation mark", `%[1]s";%[2]s;"`},
	{"a sum between apostrophes", "sealab'+(13*20011)+'s%.0[1]s%.0[2]s"},
	{"a sum between quotation marks", `sealab"+(13*20011)+"s%.0[1]s%.0[2]s`},
	{"a sum in a query", "sealab'||(13*20011)||'s%.0[1]s%.0[2]s"},
}

// runsProgram reports whether an input runs a command behind a usual text. An input that runs a
// command alone is one for commands.
func runsProgram(t *review.T, x input) bool {
	for _, p := range injectedPrograms {
		text := fmt.Sprintf(p.text, x.given, injectedCommand)
		runs := func(text string) (client.Answer, bool) {
			a := x.send(text)
			return a, strings.Contains(a.ShownTexts(), injectedOutput)
		}
		if _, does := runs(text); !does {
			continue
		}
		if _, intended := runs(injectedCommand); intended {
			return false
		}
		if a, again := runs(text); again {
			refuteInput(t, x, review.Critical, p.name+" is run: "+injectedOutput, "run", a)
			return true
		}
	}
	return false
}

var (
	// placeholder matches placeholders in the texts of a tool, such as {event.title}.
	placeholder = regexp.MustCompile(`(\$?\{\{?\s*)(\w+)[\w.]*(\s*\}\}?)`)
	// resolvedMember matches members of objects that no format should resolve.
	resolvedMember = regexp.MustCompile(`sealab(?:<|&lt;)class [^ ]+(?:>|&gt;)s|sealabfunction Function\(\) \{ \[native code\] \}s`)
	// expandedDirective matches what printf writes for the directives of a missing argument.
	expandedDirective = regexp.MustCompile(`sealab%!d\((?:MISSING|BADINDEX)\)|sealab-?\d+s0x[0-9a-f]{6,}l`)
)

// formatsText reports whether an input is used as a format.
func formatsText(t *review.T, x input) bool {
	if !strings.Contains(x.send("sealabs").ShownTexts(), "sealabs") {
		return false
	}
	try := func(text string, shown *regexp.Regexp, severity review.Severity) bool {
		if !shown.MatchString(x.send(text).ShownTexts()) {
			return false
		}
		a := x.send(text)
		found := shown.FindString(a.ShownTexts())
		if found != "" {
			refuteInput(t, x, severity, client.Short(text, 60)+" becomes "+client.Short(found, 80), "formatted", a)
		}
		return found != ""
	}
	for _, text := range memberFormats(x.offer) {
		if try(text, resolvedMember, review.Critical) {
			return true
		}
	}
	return try("sealab%ds%pl", expandedDirective, review.Warning)
}

// maxFormats is the number of formats that an input is tested with.
const maxFormats = 10

// memberFormats returns formats that show members of the placeholders in the texts of an offer, of
// its arguments, and of {0}.
func memberFormats(offer client.Offer) []string {
	var all []string
	add := func(open, root, end string) {
		for _, member := range []string{"__class__", "constructor.constructor"} {
			if text := "sealab" + open + root + "." + member + end + "s"; !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	for _, m := range placeholder.FindAllStringSubmatch(offer.Description+" "+string(offer.Input), -1) {
		add(m[1], m[2], m[3])
	}
	add("{", "0", "}")
	for _, name := range jsondoc.SortedKeys(jsondoc.ParseSchema(offer.InputSchema()).Properties) {
		add("{", name, "}")
	}
	return all[:min(len(all), maxFormats)]
}
