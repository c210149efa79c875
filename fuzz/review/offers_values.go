package review

import (
	"encoding/json"
	"regexp"
	"strings"
)

// values is the check of arguments that the schema allows, or may allow, and that
// careless handlers fail at.
var values = []Check{
	{ID: "T-VALUE", Name: "awkward values of arguments", Severity: Critical, Category: "injection",
		Sent: "calls of a tool that asks, and with --effects of tools that read only: a text with an apostrophe, with brackets that do not close, with a percent sign, half a surrogate pair, a number beyond all floats, terms of template languages; paths that climb, if an absolute one is refused", Want: "an answer or a refusal, without an error of SQL, the value of a term, a fault of the server and a file outside",
		Source: "CWE-89, CWE-22, CWE-248, CWE-1336; RFC 8259, sections 6 and 8.2", Impact: "whoever writes an argument writes a part of a query, reads files, or stops the call", Fix: "pass values as parameters of queries, resolve paths before they are compared, and refuse numbers and texts that cannot be represented", Run: awkwardValues},
}

// sqlError are texts of errors of SQL databases about the syntax of a query.
var sqlError = regexp.MustCompile(`(?i)sqlite3?\.OperationalError|SQLITE_ERROR|unrecognized token: |near \\?"[^"]*\\?": syntax error|You have an error in your SQL syntax|unterminated quoted string at or near|syntax error at or near|ORA-0(?:0933|1756)|Unclosed quotation mark after`)

// An awkwardValue replaces every argument of a type.
type awkwardValue struct {
	name, kind, value string
	// expanded is the text of an answer that has worked the value out.
	expanded string
}

var awkward = []awkwardValue{
	{"an apostrophe", "string", `"sealab'"`, ""},
	{"brackets that do not close", "string", `"sealab{[(*"`, ""},
	{"a percent sign", "string", `"sealab%"`, ""},
	{"half a surrogate pair", "string", `"sealab\ud800"`, ""},
	{"a number beyond all floats", "number", "1e400", ""},
	{"a number beyond all floats", "integer", "1e400", ""},
	{"a term in braces", "string", `"sealab{{13*20011}}s"`, "sealab260143s"},
	{"a term behind a dollar sign", "string", `"sealab${13*20011}s"`, "sealab260143s"},
	{"a term between percent signs", "string", `"sealab<%= 13*20011 %>s"`, "sealab260143s"},
	{"a term behind a number sign", "string", `"sealab#{13*20011}s"`, "sealab260143s"},
}

func awkwardValues(t *T) {
	asks, reading := t.judging()
	t.o = nil // of the findings below
	for _, f := range append(asks, reading...) {
		for _, x := range awkward {
			if t.awkwardlyAnswered(f, x) {
				return
			}
		}
	}
	for _, f := range reading {
		if t.climbsOut(f) {
			return
		}
	}
	if t.trials == 0 {
		t.skip("no tool that asks first is known; --effects allows those that read only")
	}
}

// awkwardlyAnswered reports whether a value in the place of arguments is a fault, twice,
// with an honest call between.
func (t *T) awkwardlyAnswered(f Flow, x awkwardValue) bool {
	properties := parseSchema(f.offer.Input).Properties
	arguments, changed := members(f.Arguments), false
	for name := range members(f.Arguments) {
		if s := parseSchema(properties[name]); s.typeOf() == x.kind && s.Enum == nil && s.Const == nil && (x.expanded == "" || !mentions(strings.ToLower(name), meantToExpand)) {
			arguments, changed = with(arguments, name, json.RawMessage(x.value)), true
		}
	}
	name := f.Target + ": " + x.name
	if !changed || t.only != "" && t.only != name {
		return false
	}
	call := f.call(first)
	call.Arguments = object(arguments)
	for attempt := range 2 {
		a := t.r.client.call(t.ctx, call)
		if a.Kind == throttled || a.Kind == noBudget {
			t.skip("%v", a)
			return false
		}
		t.seen(variant{name: name}, a)
		severity, issue := x.fault(a)
		if issue == "" {
			return false
		}
		if attempt == 1 {
			t.fault(name, severity, name+" is "+issue, a)
			return true
		}
		if own := t.r.client.call(t.ctx, f.call(first)); own.Kind != asked && own.Kind != completed || sqlError.Match(own.Exchange.Body) {
			return false // honest calls fail as well
		}
	}
	return false
}

// fault returns what an answer to the value shows of the server; an empty issue is nothing.
func (x awkwardValue) fault(a Answer) (severity Severity, issue string) {
	if a.Exchange == nil {
		return "", ""
	}
	if found := sqlError.FindString(string(a.Exchange.Body)); x.kind == "string" && found != "" {
		return Critical, "answered by an error of SQL: " + short(found, 60)
	}
	if x.expanded != "" && strings.Contains(string(a.Exchange.Body), x.expanded) {
		return Critical, "worked out: " + x.expanded
	}
	if a.Status >= 500 || a.Code == -32603 {
		return Warning, "answered by a fault of the server"
	}
	return "", ""
}

// pathNames are parts of the names of arguments that name files.
var pathNames = []string{"path", "file", "doc", "page", "name"}

// climbsOut reports whether a tool that refuses an absolute path gives the same file by one
// that climbs. A tool that gives both may be meant to.
func (t *T) climbsOut(f Flow) bool {
	for _, name := range sortedKeys(members(f.Arguments)) {
		if s := parseSchema(parseSchema(f.offer.Input).Properties[name]); s.typeOf() != "string" || s.Enum != nil || !mentions(strings.ToLower(name), pathNames) {
			continue
		}
		ask := func(path string) Answer {
			call := f.call(first)
			call.Arguments = object(with(members(f.Arguments), name, quote(path)))
			a := t.r.client.call(t.ctx, call)
			t.seen(variant{name: f.Target + ": " + name}, a)
			return a
		}
		if absolute := ask("/etc/passwd"); !absolute.conclusive() || passwd.MatchString(absolute.Text) {
			continue
		}
		for _, path := range climbs("../../../../../../../../etc/passwd") {
			if a := ask(path); path != "/etc/passwd" && a.Kind == completed && passwd.MatchString(a.Text) {
				t.fault(f.Target+": "+name, Critical, "an absolute path is refused, and "+short(path, 60)+" gives a file outside", a)
				return true
			}
		}
	}
	return false
}
