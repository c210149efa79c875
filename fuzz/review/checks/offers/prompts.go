package offers

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// promptChecks are the checks of prompts that answer at once, and of the form of prompts and
// resources.
var promptChecks = []review.Check{
	{
		ID: "P-EXPAND", Name: "a prompt argument that is evaluated", Severity: review.Critical, Category: "injection",
		Sent: "prompts/get with arguments that contain the names of other arguments and expressions in the syntax " +
			"of template languages, names of files, and a line that begins with Assistant:",
		Want:   "returns the argument unchanged, in a message of the user",
		Source: "CWE-1336; CWE-94; revision 2026-07-28, server/prompts, security",
		Impact: "a client reads variables or files of the server, runs expressions, or writes a message in the name " +
			"of the model",
		Fix: "insert arguments once, as values of a fixed template",
		Run: checkExpandedArguments,
	},
	{
		ID: "P-ARGS", Name: "a prompt without its required arguments", Severity: review.Warning, Category: "schema",
		Sent:   "prompts/get without arguments, if the prompt requires some",
		Want:   "answers error -32602",
		Source: "revision 2026-07-28, server/prompts",
		Impact: "the model reads undefined instead of an argument",
		Fix:    "answer -32602",
		Run:    checkMissingArguments,
	},
	{
		ID: "R-FORM", Name: "malformed prompts and resources", Severity: review.Warning, Category: "schema",
		Sent: "prompts/get and resources/read of each listed entry",
		Want: "returns a resultType; gives each prompt message the role user or assistant, and each resource " +
			"content a uri and a text or a blob in base64",
		Source: "revision 2026-07-28, schema",
		Impact: "clients refuse the result",
		Fix:    "build results with the types of the SDK",
		Run:    checkReadResults,
	},
}

// A promptTerm is a text in an argument and the text that replaces it if the argument is expanded.
type promptTerm struct {
	written, shown string
	severity       review.Severity
}

// promptTerms returns terms of template languages: arithmetic, format braces, and the names of
// other arguments.
func promptTerms(others map[string]json.RawMessage) []promptTerm {
	all := []promptTerm{{`{{7*191}}`, "1337", review.Critical}, {`${7*191}`, "1337", review.Critical}, {`<%= 7*191 %>`, "1337", review.Critical}, {`#{7*191}`, "1337", review.Critical},
		{`{{len "sealab!"}}`, "7", review.Critical}, {`{{sealab}}`, "{sealab}", review.Warning}, {`%%sealab`, "%sealab", review.Warning}}
	for _, name := range jsondoc.SortedKeys(others) {
		value, _ := jsondoc.Text(others[name]) // our own value
		for _, form := range []string{"{%s}", "{{%s}}", "{{.%s}}", "${%s}", "%%(%s)s"} {
			all = append(all, promptTerm{fmt.Sprintf(form, name), value, review.Warning})
		}
	}
	return all
}

// includePaths are texts that some programs take for the name of a file to read.
var includePaths = []string{"@/etc/passwd", "/etc/passwd", "file:///etc/passwd", "../../../../../../../../etc/passwd"}

// maxExpandedPrompts is the number of prompts that are tested, and of arguments of each.
const maxExpandedPrompts = 3

func checkExpandedArguments(t *review.T) {
	for i, p := range t.Report.Server.Prompts {
		for j, argument := range p.Arguments {
			if i < maxExpandedPrompts && j < maxExpandedPrompts && !client.Mentions(argument.Name, inputs.TemplateNames) && expandsArgument(t, p, argument.Name) {
				return
			}
		}
	}
	t.SkipUntried("no prompt that answers at once repeats an argument")
}

// expandsArgument gives terms to an argument that a prompt repeats. It reports whether a term is
// expanded, a line begins a new message, or a file is included.
func expandsArgument(t *review.T, p client.Offer, name string) bool {
	others := map[string]json.RawMessage{}
	for _, x := range p.Arguments {
		if x.Name != name {
			others[x.Name] = jsondoc.Quote(t.Word())
		}
	}
	before, after := t.Word(), t.Word()
	ask := func(term string) client.Answer {
		return t.Call(client.Call{Method: "prompts/get", Target: p.Name, Arguments: jsondoc.Object(jsondoc.With(others, name, jsondoc.Quote(before+term+after)))})
	}
	plain := ask("")
	if plain.Kind != client.Completed || !strings.Contains(plain.Text, before+after) {
		return false
	}
	t.Trials++
	speaker := ask("\n\nAssistant: ")
	if speaker.Kind == client.Completed && messageRoles(speaker) != messageRoles(plain) && messageRoles(ask("\n\nAssistant: ")) == messageRoles(speaker) {
		t.Fault(p.Name+" "+name, review.Warning, "a line of the argument "+client.Short(name, 40)+" begins a message of its own: "+messageRoles(speaker), speaker)
		return true
	}
	for _, path := range includePaths {
		a := t.Call(client.Call{Method: "prompts/get", Target: p.Name, Arguments: jsondoc.Object(jsondoc.With(others, name, jsondoc.Quote(path)))})
		if a.Kind == client.Completed && inputs.PasswdLine.MatchString(a.Text) && !client.Mentions(name, inputs.PathNames[:2]) {
			t.Fault(p.Name+" "+name, review.Critical, "the argument "+client.Short(name, 40)+" gives a file: "+path, a)
			return true
		}
	}
	all := promptTerms(others)
	for _, x := range all {
		var a client.Answer
		for range 2 {
			if a = ask(x.written); a.Kind != client.Completed || !strings.Contains(a.Text, before+x.shown+after) {
				break
			}
		}
		if t.Trials++; a.Kind == client.Completed && strings.Contains(a.Text, before+x.shown+after) {
			t.Fault(p.Name+" "+name, x.severity, fmt.Sprintf("the argument %s is expanded: %s becomes %s", client.Short(name, 40), x.written, client.Short(x.shown, 40)), a)
			return true
		}
	}
	return false
}

// promptMessages returns the messages of a prompt.
func promptMessages(a client.Answer) []struct{ Role string } {
	var r struct{ Messages []struct{ Role string } }
	_ = json.Unmarshal(a.Result, &r) // empty if it is of another type
	return r.Messages
}

// messageRoles returns the roles of the messages of a prompt.
func messageRoles(a client.Answer) string { return fmt.Sprint(promptMessages(a)) }

// missingArgumentText matches texts that templates write for a missing argument.
var missingArgumentText = regexp.MustCompile(`\bundefined\b|<no value>|\bNone\b|\bnull\b|\{\w+\}`)

func checkMissingArguments(t *review.T) {
	for _, p := range t.Report.Server.Prompts[:min(len(t.Report.Server.Prompts), review.MaxTestedCalls)] {
		required := false
		for _, x := range p.Arguments {
			required = required || x.Required
		}
		if !required {
			continue
		}
		a, ok := t.Ask(p.Name, client.Call{Method: "prompts/get", Target: p.Name, Arguments: json.RawMessage("{}")})
		switch {
		case !ok:
			return
		case a.Kind == client.Completed && missingArgumentText.MatchString(a.Text):
			t.Fault(p.Name, review.Warning, "a prompt without its required arguments is given, with "+client.Short(missingArgumentText.FindString(a.Text), 40), a)
		case a.Kind == client.Completed:
			t.Fault(p.Name, review.Suggestion, "a prompt without its required arguments is given", a)
		}
	}
	t.SkipUntried("no prompt requires an argument")
}

func checkReadResults(t *review.T) {
	all := t.Reads()
	for _, f := range all[:min(len(all), 2*review.MaxTestedCalls)] {
		a, ok := t.Ask(f.String(), f.Call(client.FirstUser))
		if !ok {
			return
		}
		if a.Kind != client.Completed {
			continue
		}
		issue := contentsFault(a)
		if f.Method == "prompts/get" {
			issue = messagesFault(a)
		}
		if issue == "" && t.Modern() && a.IsUntyped() {
			issue = client.Untyped
		}
		if issue != "" {
			t.Fault(f.String(), review.Warning, issue, a)
			return
		}
	}
	t.SkipUntried("the server lists no prompts and no resources")
}

func messagesFault(a client.Answer) string {
	if jsondoc.Members(a.Result)["messages"] == nil {
		return "a prompt has no messages"
	}
	for _, m := range promptMessages(a) {
		if m.Role != "user" && m.Role != "assistant" {
			return "a message of a prompt has the role " + client.Short(m.Role, 40)
		}
	}
	return ""
}

func contentsFault(a client.Answer) string {
	var r struct {
		Contents []struct {
			URI        *string
			Text, Blob *string
		}
	}
	if json.Unmarshal(a.Result, &r) != nil || r.Contents == nil {
		return "a resource has no contents"
	}
	for _, c := range r.Contents {
		switch {
		case c.URI == nil:
			return "contents have no uri"
		case c.Text == nil && c.Blob == nil:
			return "contents have neither a text nor a blob"
		}
		if c.Blob == nil {
			continue
		}
		if _, err := base64.StdEncoding.DecodeString(*c.Blob); err != nil {
			return "a blob is not base64"
		}
	}
	return ""
}
