package offers

import (
	"encoding/json"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// valueChecks is the check of arguments that the schema allows, or may allow, and that careless
// handlers fail on.
var valueChecks = []review.Check{
	{
		ID: "T-VALUE", Name: "unusual values of arguments", Severity: review.Critical, Category: "injection",
		Sent: "calls of a tool that asks and, with --effects, of read-only tools: texts with an apostrophe, with " +
			"unclosed brackets, with a percent sign, with a tab and a line break, with half a surrogate pair, with a date that does not exist, " +
			"and with expressions of template languages; the number 1e400; for arguments that name files, paths " +
			"with .., an absolute path, and paths of made-up folders beside usual ones",
		Want: "answers or refuses with a JSON-RPC response; reveals no SQL error, does not evaluate the " +
			"expression, returns no file outside its folder, and does not fail internally",
		Source: "CWE-89, CWE-22, CWE-248, CWE-1336; RFC 8259, sections 6 and 8.2",
		Impact: "a client writes a part of a query, runs expressions, reads files, or stops the call",
		Fix: "pass values as query parameters and template values, resolve paths before comparing them, and " +
			"refuse numbers and texts that cannot be represented; compare whole names of folders",
		Run: checkAwkwardValues,
	},
}

// sqlError matches SQL syntax errors of several databases.
var sqlError = regexp.MustCompile(`(?i)sqlite3?\.OperationalError|SQLITE_ERROR|unrecognized token: |near \\?"[^"]*\\?": syntax error|You have an error in your SQL syntax|` +
	`unterminated quoted string at or near|syntax error at or near|ORA-0(?:0933|1756)|Unclosed quotation mark after`)

// dateText matches dates in the form of RFC 3339.
var dateText = regexp.MustCompile(`^"\d{4}-\d{2}-\d{2}"$`)

// replaces reports whether the value can stand for an argument. The type date is that of texts that
// are dates.
func (x awkwardValue) replaces(given json.RawMessage, s jsondoc.Schema) bool {
	if x.kind == "date" {
		return s.TypeOf() == "string" && dateText.Match(given)
	}
	return s.TypeOf() == x.kind && s.Enum == nil && s.Const == nil
}

// An awkwardValue replaces every argument of a type.
type awkwardValue struct {
	name, kind, value string
	// expanded is the text that an answer has if the server evaluated the value.
	expanded string
}

// halfPairName is the name of a text that has no form in UTF-8.
const halfPairName = "half a surrogate pair"

var awkwardValues = []awkwardValue{
	{"an apostrophe", "string", `"sealab'"`, ""},
	{"brackets that do not close", "string", `"sealab{[(*"`, ""},
	{"a percent sign", "string", `"sealab%"`, ""},
	{"a tab and an end of a line", "string", `"sealab\t\nsealab"`, ""},
	{halfPairName, "string", `"sealab\ud800"`, ""},
	{"a number beyond all floats", "number", "1e400", ""},
	{"a number beyond all floats", "integer", "1e400", ""},
	{"a date that does not exist", "date", `"2026-02-30"`, ""},
	{"a term in braces", "string", `"sealab{{13*20011}}s"`, "sealab260143s"},
	{"a term behind a dollar sign", "string", `"sealab${13*20011}s"`, "sealab260143s"},
	{"a term between percent signs", "string", `"sealab<%= 13*20011 %>s"`, "sealab260143s"},
	{"a term behind a number sign", "string", `"sealab#{13*20011}s"`, "sealab260143s"},
}

func checkAwkwardValues(t *review.T) {
	asks, reading := alterableCalls(t)
	t.Oracle = nil // the findings below belong to no flow
	for _, f := range append(asks, reading...) {
		for _, x := range awkwardValues {
			if mishandlesValue(t, f, x) {
				return
			}
		}
	}
	for _, f := range reading {
		if escapesFolder(t, f) {
			return
		}
	}
	if t.Trials == 0 {
		t.Skip("no tool that asks first is known; --effects allows those that read only")
	}
}

// mishandlesValue reports whether a value as an argument is a fault, twice, with an honest call
// in between.
func mishandlesValue(t *review.T, f client.Flow, x awkwardValue) bool {
	properties := jsondoc.ParseSchema(f.Offer.Input).Properties
	arguments, changed := jsondoc.Members(f.Arguments), false
	for name, given := range jsondoc.Members(f.Arguments) {
		if s := jsondoc.ParseSchema(properties[name]); x.replaces(given, s) && (x.expanded == "" || !client.Mentions(strings.ToLower(name), templateNames)) {
			arguments, changed = jsondoc.With(arguments, name, json.RawMessage(x.value)), true
		}
	}
	name := f.Target + ": " + x.name
	if !changed || !t.Selected(name) {
		return false
	}
	call := f.Call(client.FirstUser)
	call.Arguments = jsondoc.Object(arguments)
	a, severity, issue := x.confirmed(func() client.Answer {
		a := t.Call(call)
		if a.Kind == client.Throttled || a.Kind == client.NoBudget {
			t.Skip("%v", a)
			return client.Answer{}
		}
		return t.Tried(a)
	}, func() bool {
		own := t.Call(f.Call(client.FirstUser))
		return (own.Kind == client.Asked || own.Kind == client.Completed) && !sqlError.Match(own.Exchange.Body)
	})
	if issue != "" {
		t.Fault(name, severity, name+" is "+issue, a)
	}
	return issue != ""
}

// confirmed tries the value twice, with an honest call in between. It returns the second answer and
// its fault. The issue is empty unless both answers show a fault and the honest one shows none.
func (x awkwardValue) confirmed(try func() client.Answer, honest func() bool) (a client.Answer, severity review.Severity, issue string) {
	if _, issue = x.fault(try()); issue == "" || !honest() {
		return a, "", ""
	}
	a = try()
	severity, issue = x.fault(a)
	return a, severity, issue
}

// fault returns the fault that an answer to the value shows, or an empty issue.
func (x awkwardValue) fault(a client.Answer) (severity review.Severity, issue string) {
	if a.Exchange == nil {
		return "", ""
	}
	if found := sqlError.FindString(string(a.Exchange.Body)); x.kind == "string" && found != "" {
		return review.Critical, "answered by an error of SQL: " + client.Short(found, 60)
	}
	if x.expanded != "" && strings.Contains(string(a.Exchange.Body), x.expanded) {
		return review.Critical, "worked out: " + x.expanded
	}
	if a.Status >= 500 || a.Code == -32603 {
		if x.name == halfPairName { // which many JSON readers of sound servers fail on
			return review.Suggestion, "answered by a fault of the server"
		}
		return review.Warning, "answered by a fault of the server"
	}
	if a.Kind == client.Broken && a.Exchange.Err == nil && a.Status == 200 {
		return review.Warning, "answered by no JSON-RPC response"
	}
	return "", ""
}

// pathNames are parts of names of arguments that name files.
var pathNames = []string{"path", "file", "doc", "page", "name"}

// escapesFolder reports whether a tool refuses a file outside its folder by one path and returns it
// by another. A tool that returns it by each path may be intended to.
func escapesFolder(t *review.T, f client.Flow) bool {
	for _, name := range jsondoc.SortedKeys(jsondoc.Members(f.Arguments)) {
		if s := jsondoc.ParseSchema(jsondoc.ParseSchema(f.Offer.Input).Properties[name]); s.TypeOf() != "string" || s.Enum != nil || !client.Mentions(strings.ToLower(name), pathNames) {
			continue
		}
		ask := func(path string) (a client.Answer, given bool) {
			call := f.Call(client.FirstUser)
			call.Arguments = jsondoc.WithMember(f.Arguments, name, jsondoc.Quote(path))
			a = t.Tried(t.Call(call))
			return a, a.Kind == client.Completed && passwdLine.MatchString(a.Text)
		}
		absolute, given := ask("/etc/passwd")
		if !absolute.Conclusive() {
			continue
		}
		for _, path := range pathSpellings(climbingPath) {
			switch a, climbed := ask(path); {
			case path == "/etc/passwd" || climbed == given || !a.Conclusive():
			case given && path == climbingPath && acceptsRelativePath(t, f, name):
				t.Fault(f.Target+": "+name, review.Critical, client.Short(path, 60)+" is refused, and an absolute path gives a file outside", absolute)
				return true
			case climbed:
				t.Fault(f.Target+": "+name, review.Critical, "an absolute path is refused, and "+client.Short(path, 60)+" gives a file outside", a)
				return true
			}
		}
		if comparesBeginnings(t, f, name) {
			return true
		}
	}
	return false
}

// acceptsRelativePath reports whether a tool returns a file by a relative path.
func acceptsRelativePath(t *review.T, f client.Flow, name string) bool {
	var path string
	_ = json.Unmarshal(jsondoc.Members(f.Arguments)[name], &path)
	return !strings.HasPrefix(path, "/") && t.Call(f.Call(client.FirstUser)).Kind == client.Completed
}

// climbingPath is a path out of a folder.
const climbingPath = "../../../../../../../../etc/passwd"
