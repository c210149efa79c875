package inputs

import (
	"encoding/json"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// An AwkwardValue replaces every argument of a type.
type AwkwardValue struct {
	Name, Kind string
	value      string // in JSON
	// expanded is the text that an answer has if the server evaluated the value.
	expanded string
	query    bool // whether it stands for a query, whose errors are no fault
}

// AsQuery returns the value in place of a query of a language, for which an error of SQL is an answer.
func (x AwkwardValue) AsQuery() AwkwardValue {
	x.query = true
	return x
}

// halfPair is the name of a text that has no form in UTF-8.
const halfPair = "half a surrogate pair"

// AwkwardValues are values that careless handlers fail on.
var AwkwardValues = []AwkwardValue{
	{"an apostrophe", "string", `"sealab'"`, "", false},
	{"brackets that do not close", "string", `"sealab{[(*"`, "", false},
	{"a percent sign", "string", `"sealab%"`, "", false},
	{"a tab and an end of a line", "string", `"sealab\t\nsealab"`, "", false},
	{halfPair, "string", `"sealab\ud800"`, "", false},
	{"a number beyond all floats", "number", "1e400", "", false},
	{"a number beyond all floats", "integer", "1e400", "", false},
	{"a date that does not exist", "date", `"2026-02-30"`, "", false},
	{"a term in braces", "string", `"sealab{{13*20011}}s"`, "sealab260143s", false},
	{"a term behind a dollar sign", "string", `"sealab${13*20011}s"`, "sealab260143s", false},
	{"a term between percent signs", "string", `"sealab<%= 13*20011 %>s"`, "sealab260143s", false},
	{"a term behind a number sign", "string", `"sealab#{13*20011}s"`, "sealab260143s", false},
}

// TemplateNames are parts of names of arguments that are templates.
var TemplateNames = []string{"template", "format", "pattern", "query", "expression", "code", "script"}

// dateText matches dates in the form of RFC 3339.
var dateText = regexp.MustCompile(`^"\d{4}-\d{2}-\d{2}"$`)

// Replaces reports whether the value can stand for another one of an argument. The type date is that of
// texts that are dates.
func (x AwkwardValue) Replaces(name string, given json.RawMessage, s jsondoc.Schema) bool {
	switch {
	case x.IsIntended(name):
		return false
	case x.Kind == "date":
		return s.TypeOf() == "string" && dateText.Match(given)
	}
	return s.TypeOf() == x.Kind && s.Enum == nil && s.Const == nil
}

// IsIntended reports whether a name is that of an input which is meant to evaluate the value.
func (x AwkwardValue) IsIntended(name string) bool {
	return x.expanded != "" && client.Mentions(name, TemplateNames)
}

// JSON returns the value in JSON.
func (x AwkwardValue) JSON() json.RawMessage { return json.RawMessage(x.value) }

// Text returns the text of the value, and whether a form can have it as an answer.
func (x AwkwardValue) Text() (text string, ok bool) {
	if x.Kind != "string" || x.Name == halfPair {
		return "", false
	}
	ok = json.Unmarshal([]byte(x.value), &text) == nil
	return text, ok
}

// SQLError matches SQL syntax errors of several databases.
var SQLError = regexp.MustCompile(`(?i)sqlite3?\.OperationalError|SQLITE_ERROR|unrecognized token: |near \\?"[^"]*\\?": syntax error|You have an error in your SQL syntax|` +
	`unterminated quoted string at or near|syntax error at or near|ORA-0(?:0933|1756)|Unclosed quotation mark after`)

// Confirmed tries the value twice, with an honest call in between. It returns the second answer and
// its fault. The issue is empty unless both answers show a fault and the honest one shows none.
func (x AwkwardValue) Confirmed(try func() client.Answer, honest func() bool) (a client.Answer, severity review.Severity, issue string) {
	if x.Handled(try()) || !honest() {
		return a, "", ""
	}
	a = try()
	severity, issue = x.fault(a)
	return a, severity, issue
}

// Handled reports whether an answer to the value shows no fault.
func (x AwkwardValue) Handled(a client.Answer) bool {
	_, issue := x.fault(a)
	return issue == ""
}

// fault returns the fault that an answer to the value shows, or an empty issue.
func (x AwkwardValue) fault(a client.Answer) (severity review.Severity, issue string) {
	if a.Exchange == nil {
		return "", ""
	}
	if found := SQLError.FindString(string(a.Exchange.Body)); x.Kind == "string" && found != "" {
		if x.query {
			return "", ""
		}
		return review.Critical, "answered by an error of SQL: " + client.Short(found, 60)
	}
	if x.expanded != "" && strings.Contains(string(a.Exchange.Body), x.expanded) {
		return review.Critical, "worked out: " + x.expanded
	}
	if a.Status >= 500 || a.Code == -32603 {
		if x.Name == halfPair { // which many JSON readers of sound servers fail on
			return review.Suggestion, "answered by a fault of the server"
		}
		return review.Warning, "answered by a fault of the server"
	}
	if a.Kind == client.Broken && a.Exchange.Err == nil && a.Status == 200 {
		return review.Warning, "answered by no JSON-RPC response"
	}
	return "", ""
}
