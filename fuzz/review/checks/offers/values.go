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

// valueChecks is the check of arguments that the schema allows, or may allow, and that careless
// handlers fail on.
var valueChecks = []review.Check{
	{
		ID: "T-VALUE", Name: "unusual values of arguments", Severity: review.Critical, Category: "injection",
		Sent: "calls of a tool that asks and, with --effects, of read-only tools: texts with an apostrophe, with " +
			"unclosed brackets, with a percent sign, with a tab and a line break, with half a surrogate pair, with a date that does not exist, " +
			"and with expressions of template languages; the number 1e400; for arguments that name files or have a name of a " +
			"file as their usual value, paths with .., an absolute path, the same paths in each of several arguments, and paths of made-up folders beside usual " +
			"ones; over HTTP the root file:///etc to a tool that asks for roots; with --effects, paths with %2e%2e in calls " +
			"that ask, up to their ends, and for the path in a call that asks for roots, the folder of the path as the root, the same without its last letter, and another folder beside it",
		Want: "answers or refuses with a JSON-RPC response; reveals no SQL error unless the argument is a query by design, does not evaluate the " +
			"expression, returns no file outside its folder or below a root that the client names, goes on with no path whose folder only begins like a root, and does not fail internally",
		Source: "CWE-89, CWE-22, CWE-248, CWE-1336; RFC 8259, sections 6 and 8.2",
		Impact: "a client writes a part of a query, runs expressions, reads files, or stops the call",
		Fix: "pass values as query parameters and template values, resolve paths before comparing them, and " +
			"refuse numbers and texts that cannot be represented; compare whole names of folders",
		Run: checkAwkwardValues,
	},
}

// LastChecks returns the check of nested arguments. It may end the server, and runs after all others.
func LastChecks() []review.Check { return depthChecks }

var depthChecks = []review.Check{
	{
		ID: "T-DEPTH", Name: "deeply nested arguments", Over: "http", Locks: true, Severity: review.Warning, Category: "reliability",
		Sent:   "calls of a tool that asks and, with --effects, of read-only tools, with 20,000 nested lists in place of each argument and in one that the tool does not have",
		Want:   "answers or refuses, and continues to answer",
		Source: "CWE-674; RFC 8259, section 9",
		Impact: "one request of a client ends the server for all",
		Fix:    "limit the depth of arguments before walking through them",
		Run:    checkDepth,
	},
}

func checkAwkwardValues(t *review.T) {
	asks, reading := inputs.Calls(t)
	t.Oracle = nil // the findings below belong to no flow
	for _, f := range append(asks, reading...) {
		for _, x := range inputs.AwkwardValues {
			if mishandlesValue(t, f, x, false) || mishandlesValue(t, f, x.AsQuery(), true) {
				return
			}
		}
	}
	for _, f := range reading {
		if escapesFolder(t, f) || trustsRoots(t, f) {
			return
		}
	}
	for _, f := range append(asks, reading...) {
		if cutsRoots(t, f) {
			return
		}
	}
	if t.Options.Effects && slices.ContainsFunc(t.Oracles, func(o *review.Oracle) bool { return resolvesLater(t, o) }) {
		return
	}
	t.SkipUntried("no tool that asks first is known; --effects allows those that read only")
}

// nestedLists is the depth of the lists that checkDepth sends: readers that recurse have a limit below.
const nestedLists = 20_000

// checkDepth looks for calls with deeply nested lists, in an argument or in a member that the tool does not have, after
// which the server stops. The schema of the tool need not allow the lists: the server may walk through the arguments
// before it compares them with the schema.
func checkDepth(t *review.T) {
	asks, reading := inputs.Calls(t)
	t.Oracle = nil // the findings below belong to no flow

	// An earlier check may have ended the server.
	if t.Unanswered() != "" {
		t.Skip("the server does not answer")
		return
	}
	deep := strings.Repeat("[", nestedLists) + strings.Repeat("]", nestedLists)
	for _, f := range append(asks, reading...) {
		for _, name := range append(jsondoc.SortedKeys(jsondoc.Members(f.Arguments)), "sealab") {
			label, word := f.Target+": nested lists for "+name, jsondoc.Quote(t.Word())
			if !t.Selected(label) {
				continue
			}
			w := t.Request(f.With(jsondoc.WithMember(f.Arguments, name, word)).Call(client.FirstUser))
			w.Replace(string(word), deep)
			a := t.Tried(t.Send(w))
			if a.Kind != client.Broken {
				continue
			}
			if reason := t.Unanswered(); reason != "" {
				a.Exchange.Sent = a.Exchange.Sent[:min(len(a.Exchange.Sent), 600)]
				t.Fault(label, review.Warning, fmt.Sprintf("the server does not answer after %d nested lists for %s: %s", nestedLists, name, reason), a)
				return
			}
		}
	}
	t.SkipUntried("no tool that asks first is known; --effects allows those that read only")
}

// mishandlesValue reports whether a value as an argument is a fault, twice, with an honest call
// in between. It replaces either the arguments that are queries of a language or the other ones.
func mishandlesValue(t *review.T, f client.Flow, x inputs.AwkwardValue, queries bool) bool {
	properties := jsondoc.ParseSchema(f.Offer.Input).Properties
	arguments, changed := jsondoc.Members(f.Arguments), false
	for name, given := range jsondoc.Members(f.Arguments) {
		if s := jsondoc.ParseSchema(properties[name]); x.Replaces(name, given, s) && inputs.TakesQuery(name, f.Offer.Description, given, properties[name]) == queries {
			arguments, changed = jsondoc.With(arguments, name, x.JSON()), true
		}
	}
	name := f.Target + ": " + x.Name
	if !changed || !t.Selected(name) {
		return false
	}
	call := f.Call(client.FirstUser)
	call.Arguments = jsondoc.Object(arguments)
	a, severity, issue := x.Confirmed(func() client.Answer {
		a := t.Call(call)
		if a.Withheld() {
			t.Skip("%v", a)
			return client.Answer{}
		}
		return t.Tried(a)
	}, func() bool {
		own := t.Call(f.Call(client.FirstUser))
		return own.Succeeded() && !inputs.SQLError.Match(own.Exchange.Body)
	})
	if issue != "" {
		t.Fault(name, severity, name+" is "+issue, a)
	}
	return issue != ""
}

// escapesFolder reports whether a tool refuses a file outside its folder by one path, or in one argument, and
// returns it by another. A tool that returns it by each path may be intended to.
func escapesFolder(t *review.T, f client.Flow) bool {
	files := fileArguments(f)
	f = withPresentFiles(t, f, files)
	for _, name := range files {
		absolute, given := asksFile(t, f, name, "/etc/passwd")
		if !absolute.Conclusive() {
			continue
		}
		for _, path := range inputs.PathSpellings(inputs.ClimbingPath) {
			switch a, climbed := asksFile(t, f, name, path); {
			case path == "/etc/passwd" || climbed == given || !a.Conclusive():
			case given && path == inputs.ClimbingPath && acceptsRelativePath(t, f, name):
				t.Fault(f.Target+": "+name, review.Critical, client.Short(path, 60)+" is refused, and an absolute path gives a file outside", absolute)
				return true
			case climbed:
				t.Fault(f.Target+": "+name, review.Critical, "an absolute path is refused, and "+client.Short(path, 60)+" gives a file outside", a)
				return true
			}
		}
		if given && refusedBeside(t, f, files, name) || comparesBeginnings(t, f, name) {
			return true
		}
	}
	return false
}

// fileArguments returns the names of the arguments of a call that name files.
func fileArguments(f client.Flow) []string {
	var all []string
	properties, given := jsondoc.ParseSchema(f.Offer.Input).Properties, jsondoc.Members(f.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		if s := jsondoc.ParseSchema(properties[name]); s.TypeOf() == "string" && s.Enum == nil && namesFile(name, given[name]) {
			all = append(all, name)
		}
	}
	return all
}

// asksFile asks for a file by a path in an argument. It reports whether the answer has a line of /etc/passwd.
func asksFile(t *review.T, f client.Flow, name, path string) (a client.Answer, given bool) {
	a = t.Tried(t.Call(f.WithArgument(name, jsondoc.Quote(path)).Call(client.FirstUser)))
	return a, a.Kind == client.Completed && inputs.PasswdLine.MatchString(a.Text)
}

// refusedBeside reports whether another argument of the tool, whose usual value is accepted, refuses a file
// outside of the folder that an argument gives, twice.
func refusedBeside(t *review.T, f client.Flow, files []string, name string) bool {
	for _, other := range files {
		if other == name {
			continue
		}
		refused := true
		var last client.Answer
		for range 2 {
			for _, path := range []string{"/etc/passwd", inputs.ClimbingPath} {
				a, _ := asksFile(t, f, other, path)
				gives, given := asksFile(t, f, name, path)
				refused, last = refused && a.Refused() && given, gives
			}
		}
		if refused && t.Call(f.Call(client.FirstUser)).Kind == client.Completed {
			t.Fault(f.Target+": "+name, review.Critical, other+" refuses a file outside, and "+name+" gives it", last)
			return true
		}
	}
	return false
}

// namesFile reports whether an argument names a file, by its name or by its usual value.
func namesFile(name string, given json.RawMessage) bool {
	text, _ := jsondoc.Text(given)
	return fileName.MatchString(text) || client.Mentions(strings.ToLower(name), inputs.PathNames)
}

// acceptsRelativePath reports whether a tool returns a file by a relative path.
func acceptsRelativePath(t *review.T, f client.Flow, name string) bool {
	path, _ := jsondoc.Text(jsondoc.Members(f.Arguments)[name])
	return !strings.HasPrefix(path, "/") && t.Call(f.Call(client.FirstUser)).Kind == client.Completed
}
