package injections

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
)

// knownOptions are options of many programs that change no data, each with one of the same length and kind of
// letters that no program has.
var knownOptions = []struct{ known, unknown string }{
	{"--help", "--hqlp"}, {"--version", "--vqrsion"}, {"--verbose", "--vqrbose"}, {"--quiet", "--qqiet"}, {"--date=iso", "--dqte=iso"},
	{"--stat", "--stqt"}, {"--oneline", "--onelqne"}, {"--no-color", "--no-cqlor"}, {"--color=never", "--cqlor=never"}, {"--porcelain", "--porcelqin"},
}

// fileOptions are options that make usual programs show the lines of a file, or that name it in an error.
var fileOptions = []string{"--contents=/etc/passwd", "--file=/etc/passwd", "-f/etc/passwd", "--files0-from=/etc/passwd", "--from-file=/etc/passwd", "--exclude-from=/etc/passwd", "--config=/etc/passwd"}

var (
	// usageText matches what programs write about their options.
	usageText = regexp.MustCompile(`(?im)^\W*usage:?\s+\S|\busage: \S`)
	// unknownOption matches the complaints of programs about options that they do not have.
	unknownOption = regexp.MustCompile(`(?i)\b(?:unknown|unrecogni[sz]ed|invalid|illegal|no such|unexpected) (?:option|switch|flag|argument)|flag provided but not defined|\bnot an option\b`)
	// takesOptions are parts of texts of inputs that are meant to hold options or commands.
	takesOptions = []string{"option", "flag", "switch", "args", "argv", "command", "cmd", "parameters"}
)

// readsOption reports whether a program takes an input for an option: it shows the lines of a file that an
// option names, or it knows the options that programs have and no others. Each option is compared with a
// made-up one and with its name without hyphens: a server that refuses texts with hyphens refuses both
// options alike, and one that looks for texts finds the name as well. The earlier inputs got the same options,
// and may have stored them.
func readsOption(t *review.T, x inputs.Input, earlier []inputs.Input) bool {
	if x.Query || strings.HasPrefix(x.Given, "-") || client.Mentions(strings.TrimPrefix(x.Name, x.Offer.Name), takesOptions) {
		return false
	}
	if acceptsAny(x) {
		return false
	}
	if usual := x.Send(x.Given); !usual.Conclusive() || inputs.PasswdLine.MatchString(usual.ShownTexts()) {
		return false
	}
	for _, text := range fileOptions {
		a, shown := confirmedTwice(func(int) (client.Answer, bool) {
			a := x.Send(text)
			return a, inputs.PasswdLine.MatchString(a.ShownTexts()) && !inputs.PasswdLine.MatchString(x.Send(x.Given).ShownTexts())
		})
		if shown {
			x.Refute(t, review.Critical, "a text is read as an option of a program, and shows a file: "+text, "a file", a)
			return true
		}
	}
	for _, option := range knownOptions {
		a, known := confirmedTwice(func(int) (client.Answer, bool) { return knowsOption(x, option.known, option.unknown) })
		if known && !isStored(x, earlier, option.unknown) {
			x.Refute(t, review.Warning, "a text is read as an option of a program: "+option.known+" is known, and "+option.unknown+" is not", "an option", a)
			return true
		}
	}
	return false
}

// isStored gives a text to the earlier inputs and reports whether it then succeeds in another one, which finds
// what the earlier ones have stored.
func isStored(x inputs.Input, earlier []inputs.Input, text string) bool {
	for _, e := range earlier {
		e.Send(text)
	}
	return x.Send(text).Succeeded()
}

// acceptsAny reports whether an input takes an option that no program has as it takes its name: it searches,
// stores or repeats texts.
func acceptsAny(x inputs.Input) bool {
	text := knownOptions[0].unknown
	name := strings.TrimLeft(text, "-")
	option, bare := x.Send(text), x.Send(name)
	return option.Succeeded() && option.Class() == bare.Class() && strings.ReplaceAll(option.ShownTexts(), text, name) == bare.ShownTexts()
}

// knowsOption reports whether the answer to an option is one that neither a made-up option nor the name
// without hyphens has: a result among refusals that does not repeat the option, or a text about its use where
// the made-up one is called unknown.
func knowsOption(x inputs.Input, known, unknown string) (client.Answer, bool) {
	a := x.Send(known)
	shown := a.ShownTexts()
	use := usageText.MatchString(shown)
	if !a.Conclusive() || !use && (!a.Succeeded() || strings.Contains(shown, known)) {
		return a, false
	}
	bare := x.Send(strings.TrimLeft(known, "-"))
	if !bare.Conclusive() || usageText.MatchString(bare.ShownTexts()) {
		return a, false
	}
	other := x.Send(unknown)
	if use && !unknownOption.MatchString(shown) && unknownOption.MatchString(other.ShownTexts()) {
		return a, !unknownOption.MatchString(bare.ShownTexts())
	}
	return a, a.Succeeded() && !strings.Contains(shown, known) && bare.Refused() && other.Refused()
}

// queryFunctions are functions that all databases have, each with a name of the same length that none has.
var queryFunctions = []struct{ known, unknown string }{{"lower", "lowqr"}, {"upper", "upqer"}, {"trim", "trqm"}, {"ltrim", "ltrqm"}, {"rtrim", "rtrqm"}}

// functionCondition is a condition behind an apostrophe that never holds. A query that has it finds
// nothing, and changes nothing.
const functionCondition = "%s' and %s('sealab')='none' and 'a' like 'a"

// functionPairs is the number of times that an answer must follow the names of functions.
const functionPairs = 8

// knowsFunctions reports whether an input becomes a part of a query: all calls of functions that SQL has
// are answered alike, and all calls of unknown ones are answered alike, but otherwise. A text that the
// server searches, quotes or refuses as such has the same answer for both. The query need not find
// anything, and its error may have any text.
func knowsFunctions(t *review.T, x inputs.Input) bool {
	send := func(function string) (a client.Answer, shown string) {
		text := fmt.Sprintf(functionCondition, x.Given, function)
		a = x.Send(text)
		if !a.Conclusive() {
			return a, ""
		}
		return a, fmt.Sprint(a.Kind, a.Code, strings.ReplaceAll(a.ShownTexts(), text, x.Given))
	}
	if x.Query {
		return false
	}
	var known, unknown string
	var last client.Answer
	for i := range functionPairs {
		pair := queryFunctions[i%len(queryFunctions)]
		a, one := send(pair.known)
		if a.Refused() {
			return false // the input may refuse such texts in several ways
		}
		b, two := send(pair.unknown)
		if i == 0 {
			known, unknown = one, two
		}
		if one == "" || two == "" || one == two || one != known || two != unknown || !b.Refused() && !failsInside(b) {
			return false
		}
		last = b
	}
	x.Refute(t, review.Critical, "functions that SQL has are called behind an apostrophe, and unknown ones are refused: "+client.Short(fmt.Sprintf(functionCondition, x.Given, queryFunctions[0].unknown), 80), "a function is called", last)
	return true
}

// A typeExpression multiplies a number with the length of the name of a type, which takes more than
// arithmetic.
type typeExpression struct {
	text    string
	lengths []int // of the name, by language
}

// typeExpressions are expressions of Python, JavaScript, Ruby and languages on the Java virtual
// machine, PHP and Perl. They are numbers, because some tools return only numbers.
var typeExpressions = []typeExpression{
	{"().__class__.__name__.__len__()*%d", []int{len("tuple")}},
	{`"".constructor.constructor("return typeof this.isNaN")().length*%d`, []int{len("function")}},
	{"''.class.name.length()*%d", []int{len("String"), len("java.lang.String")}},
	{"strlen(gettype([]))*%d", []int{len("array")}},
	{"length(ref([]))*%d", []int{len("ARRAY")}},
}

// expressionFactors are factors whose products with a short length have few digits, so that no
// tool rounds them.
var expressionFactors = [2]int{20011, 30013}

// codeNames are parts of texts of tools that are meant to run programs.
var codeNames = []string{"code", "script", "python", "javascript", "ruby", "php", "perl", "program", "snippet", "repl", "sandbox", "interpret", "notebook"}

// evaluatesText reports whether an input is evaluated in a programming language, with two factors. A
// calculator evaluates arithmetic, and a tool for programs all of them.
func evaluatesText(t *review.T, x inputs.Input) bool {
	if client.Mentions(x.Name+" "+x.Offer.Description+" "+string(x.Offer.Input), codeNames) {
		return false
	}
	for _, e := range typeExpressions {
		if a, does := confirmedTwice(func(number int) (client.Answer, bool) { return e.evaluated(x, expressionFactors[number]) }); does {
			x.Refute(t, review.Critical, fmt.Sprintf(e.text, expressionFactors[1])+" is evaluated", "evaluated", a)
			return true
		}
	}
	return false
}

// evaluated sends an expression and reports whether the answer has its value.
func (e typeExpression) evaluated(x inputs.Input, factor int) (client.Answer, bool) {
	a := x.Send(fmt.Sprintf(e.text, factor))
	shown := strings.ReplaceAll(a.ShownTexts(), ",", "") // between groups of digits
	return a, slices.ContainsFunc(e.lengths, func(n int) bool { return strings.Contains(shown, fmt.Sprint(n*factor)) })
}
