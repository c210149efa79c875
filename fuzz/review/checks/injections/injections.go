// Package injections has the check of texts that become a part of a query, a command, a format, an
// expression, a document or a path.
package injections

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// Checks returns the check of injections.
func Checks() []review.Check { return injectionChecks }

// injectionChecks is the check of texts that become a part of a query, a command or a format.
var injectionChecks = []review.Check{
	{
		ID: "T-INJECT", Name: "a text that is read as a query, a command or a format", Severity: review.Critical, Category: "injection", Long: true,
		Sent: "texts in arguments of a tool that asks, also as later questions show them, and of prompts, in parameters of resource templates, in " +
			"completion/complete of both and, with --effects, in answers to forms, and in arguments of read-only tools and " +
			"of calls that are carried out, and of tools that are named or change nothing by their names, and in texts that one tool stores and another call shows or gives to the model: one and two apostrophes; behind an apostrophe, functions that SQL has and that it lacks; conditions behind a quotation mark, also with a parenthesis, and of a shell, that are true and false; " +
			"commands of a shell behind a line feed and other separators; members of the placeholders that the " +
			"tool names, of its arguments, its answers and {0}; directives of printf; expressions of programming languages " +
			"that name a type, unless the tool runs programs; options of programs, made-up ones, and their names " +
			"without hyphens, unless the input takes options; if the input takes XML, documents with external entities; " +
			"if it names a column to sort by, also in a form that lists the columns, conditions of a query that are true and false; with --effects, in " +
			"arguments of tools that import: data that calls a function, in several formats, and archives of " +
			"files with .. in their names; and a line break with a header, or with a copy of an entry, behind it in texts that " +
			"come back in headers of a message or in entries of a log, in the result, in resources, also in those listed only then, or in calls that read",
		Want: "keeps stored texts out of the systemPrompt of questions or quotes them; treats the text as a value: fails for no apostrophe, does not evaluate the condition or more than " +
			"arithmetic, runs no command, passes it to no program as an option, resolves no member of a placeholder, reads no entity, calls no function, " +
			"writes no file outside of its folder, and lets no line break begin a header or an entry of a log",
		Source: "CWE-22, CWE-78, CWE-88, CWE-89, CWE-93, CWE-95, CWE-117, CWE-134, CWE-502, CWE-611, CWE-1336",
		Impact: "a client reads the data behind the query, runs commands, reads variables or writes files of the server, or forges headers of its messages and entries of its logs",
		Fix: "pass texts as query parameters and as arguments of a process without a shell and behind --, match whole texts " +
			"instead of lines, replace only listed placeholders, parse expressions instead of evaluating them, " +
			"refuse line breaks in headers and escape them in logs, refuse document types in XML, read data with formats that have no calls, and compare resolved names of " +
			"files with their folder",
		Run: checkInjections,
	},
}

// maxInjections is the number of inputs that checkInjections tests.
const maxInjections = 30

func checkInjections(t *review.T) {
	all := slices.Concat(inputs.Completions(t), inputs.Prompts(t), inputs.Texts(t), inputs.Later(t), inputs.Templates(t))
	var instructing []inputs.Input
	if t.Options.Effects {
		var shown []inputs.Input
		shown, instructing = inputs.Stored(t)
		all = slices.Concat(all, shown, inputs.Carried(t), inputs.Done(t))
	}
	t.Oracle = nil // the findings name the flows of their inputs
	for i, x := range all[:min(len(all), maxInjections)] {
		if t.Selected(x.Name) && (followsText(t, x) || knowsFunctions(t, x) || runsProgram(t, x) || readsOption(t, x, all[:i]) || formatsText(t, x) || evaluatesText(t, x) || readsEntity(t, x)) {
			return
		}
	}
	columns := columnInputs(t)
	if t.Options.Effects {
		columns = append(columns, columnAnswers(t)...)
	}
	for _, x := range columns {
		if t.Selected(x.Name) && sortsByCondition(t, x) {
			return
		}
	}
	if t.Options.Effects && (readsData(t) || slices.ContainsFunc(instructing, func(x inputs.Input) bool { return t.Selected(x.Name) && instructsModel(t, x) })) {
		return
	}
	if t.Options.Effects && slices.ContainsFunc(inputs.Writings(t), func(x inputs.Writing) bool { return t.Selected(x.Name) && forgesLine(t, x) }) {
		return
	}
	t.SkipUntried("no tool that asks, prompt or completion takes a text; --effects allows tools that read only")
}

// readsData reports whether an input calls functions of serialized data or unpacks files outside of a
// folder.
func readsData(t *review.T) bool {
	for _, x := range loadingInputs(t, takesSerialized) {
		if t.Selected(x.Name) && (callsFunction(t, x) || opensSerialized(t, x)) {
			return true
		}
	}
	for _, x := range loadingInputs(t, takesArchive) {
		if t.Selected(x.Name) && leavesFolder(t, x) {
			return true
		}
	}
	return false
}

// confirmedTwice makes two attempts, numbered from 0, and returns the last answer. It reports whether
// both show a fault.
func confirmedTwice(attempt func(number int) (client.Answer, bool)) (a client.Answer, shown bool) {
	for number := range 2 {
		if a, shown = attempt(number); !shown {
			return a, false
		}
	}
	return a, true
}

// textConditions are conditions behind a text, for two numbers that are equal or not: of queries behind its
// end, and of shells that write nothing or more text.
var textConditions = []struct{ place, condition string }{
	{"behind '", "%s' and %d=%d and 'a' like 'a"},
	{`behind "`, `%s" and %d=%d and "a" like "a`},
	{"behind '", "%s' and %d=%d and 'a'='a"},
	{"behind '", "%s' && %d==%d && 'a'=='a"},
	{"behind ')", "%s') and %d=%d and ('a'='a"},
	{`behind ")`, `%s") and %d=%d and ("a"="a`},
	{behindNumber, "%s and %d=%d"},
	{behindNumber, "%s) and %d=%d and (1=1"},
	{"in $( )", "%s$(test %d = %d || echo q)"},
	{"in backquotes", "%s`test %d = %d || echo q`"},
	{"in $( ) behind '", "%s'$(test %d = %d || echo q)'"},
	{"in $( ) alone", conditionAlone + "$(test %d = %d || echo sealab)"},
	{"in backquotes alone", conditionAlone + "`test %d = %d || echo sealab`"},
}

const conditionAlone = "%.0s" // in place of the text

const behindNumber = "behind a number"

var onlyDigits = regexp.MustCompile(`^\d+$`)

// followsText reports whether an input is read as more than a text: the answer depends on a condition
// behind it, or one apostrophe is a fault and two are none.
func followsText(t *review.T, x inputs.Input) bool {
	if x.Query {
		return false // conditions are a part of its language
	}
	usual := x.Send(x.Given)
	if !usual.Conclusive() {
		return false
	}
	for _, c := range textConditions {
		if (c.place == behindNumber) != onlyDigits.MatchString(x.Given) {
			continue
		}
		ask := func(one, two int) (a client.Answer, texts string) {
			text := fmt.Sprintf(c.condition, x.Given, one, two)
			a = x.Send(text)
			return a, strings.ReplaceAll(a.ShownTexts(), text, x.Given)
		}
		want, texts := usual, usual.ShownTexts()
		if strings.HasPrefix(c.condition, conditionAlone) {
			want, texts = ask(7901, 7901)
		}
		holds := func(one, two int) (as bool, a client.Answer) {
			a, shown := ask(one, two)
			return a.Kind == want.Kind && shown == texts, a
		}
		if want.Refused() || !followsCondition(holds) {
			continue
		}
		_, a := holds(7919, 7919)
		x.Refute(t, review.Critical, "a condition "+c.place+" decides about the answer: "+client.Short(fmt.Sprintf(c.condition, x.Given, 7919, 7919), 80), "a condition is evaluated", a)
		return true
	}
	one := x.Send(x.Given + "'")
	if failsInside(one) && !failsInside(usual) && !failsInside(x.Send(x.Given+"''")) && failsInside(x.Send(x.Given+"'")) && x.Send(x.Given+"''").Conclusive() {
		x.Refute(t, review.Warning, "an apostrophe is answered by a fault of the server, and two are not", "a fault of the server", one)
		return true
	}
	return false
}

// conditionPairs is the number of times that an answer must follow its conditions. Some servers choose
// their words or the order of their lines at random.
const conditionPairs = 8

// followsCondition reports whether the usual answer comes for equal numbers and for no others, for
// several pairs of each.
func followsCondition(holds func(one, two int) (bool, client.Answer)) bool {
	for n := 7919; n < 7919+conditionPairs; n++ {
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
	return a.Code == -32603 || a.Status >= 500 && a.Status != 503 || a.Exchange != nil && inputs.SQLError.Match(a.Exchange.Body)
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
func runsProgram(t *review.T, x inputs.Input) bool {
	for _, p := range injectedPrograms {
		text := fmt.Sprintf(p.text, x.Given, injectedCommand)
		runs := func(text string) (client.Answer, bool) {
			a := x.Send(text)
			return a, strings.Contains(a.ShownTexts(), injectedOutput)
		}
		if _, does := runs(text); !does {
			continue
		}
		if a, _ := runs(injectedCommand); runsAlone(a) {
			return false
		}
		if a, again := runs(text); again {
			x.Refute(t, review.Critical, p.name+" is run: "+injectedOutput, "run", a)
			return true
		}
	}
	return false
}

// runsAlone reports whether an answer shows what injectedCommand writes. A shell that takes the command
// for a part of a text in quotation marks works out its sum as well, but leaves its name.
func runsAlone(a client.Answer) bool {
	return strings.Contains(strings.ReplaceAll(a.ShownTexts(), "echo "+injectedOutput, ""), injectedOutput)
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
func formatsText(t *review.T, x inputs.Input) bool {
	if !strings.Contains(x.Send("sealabs").ShownTexts(), "sealabs") {
		return false
	}
	try := func(text string, shown *regexp.Regexp, severity review.Severity) bool {
		a, formatted := confirmedTwice(func(int) (client.Answer, bool) {
			a := x.Send(text)
			return a, shown.MatchString(a.ShownTexts())
		})
		if formatted {
			x.Refute(t, severity, client.Short(text, 60)+" becomes "+client.Short(shown.FindString(a.ShownTexts()), 80), "formatted", a)
		}
		return formatted
	}
	for _, text := range memberFormats(t, x.Offer) {
		if try(text, resolvedMember, review.Critical) {
			return true
		}
	}
	return try("sealab%ds%pl", expandedDirective, review.Warning)
}

// maxFormats is the number of formats that an input is tested with.
const maxFormats = 16

// memberFormats returns formats that show members of the placeholders in the texts of an offer, of
// its arguments, of {0}, and of the answers to its questions.
func memberFormats(t *review.T, offer client.Offer) []string {
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
	for _, f := range t.Flows {
		for i, answers := range f.Answers() {
			for _, key := range jsondoc.SortedKeys(jsondoc.Members(answers)) {
				for _, name := range jsondoc.SortedKeys(f.Content(i, key)) {
					if f.Target == offer.Name {
						add("{", name, "}")
					}
				}
			}
		}
	}
	return all[:min(len(all), maxFormats)]
}
