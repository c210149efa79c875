package injections

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// serializedNames are parts of texts about inputs that take the data of a program.
var serializedNames = []string{"import", "restore", "serializ", "pickle", "marshal", "yaml", "base64", "snapshot", "backup"}

// serializedCalls are data in which a reader that builds any object calls a function. The call
// repeats a word, which the name of the data precedes.
var serializedCalls = []struct{ name, text string }{
	{"a call in a pickle", "coperator\nmul\n(S'%s'\nI3\ntR."},
	{"a call in a pickle", "(dS'sealab'\ncoperator\nmul\n(S'%s'\nI3\ntRs."},
	{"a call in YAML", "!!python/object/apply:operator.mul [%s, 3]"},
	{"a call in YAML", "sealab: !!python/object/apply:operator.mul [%s, 3]"},
	{"a function in YAML", `{toString: !!js/function 'function () {return "%[1]s".repeat(3)}', toJSON: !!js/function 'function () {return "%[1]s".repeat(3)}'}`},
	{"a function in JSON", `{"sealab":"_$$ND_FUNC$$_function (){return '%s'.repeat(3)}()"}`},
	{"a call in JSON", `{"py/reduce":[{"py/function":"operator.mul"},{"py/tuple":["%s",3]}]}`},
}

// repeatedWords are the words of serializedCalls.
var repeatedWords = [2]string{"sealab26s", "sealab71s"}

// serializedRequests are data in which such a reader opens a URL, for inputs that do not show the data.
var serializedRequests = []struct{ name, text string }{
	{"a call in a pickle", "curllib.request\nurlopen\n(S'%s'\ntR."},
	{"a call in YAML", "!!python/object/apply:urllib.request.urlopen ['%s']"},
	{"a call in JSON", `{"py/reduce":[{"py/function":"urllib.request.urlopen"},{"py/tuple":["%s"]}]}`},
}

// dataEncodings are the forms in which data is sent.
var dataEncodings = []func(string) string{func(text string) string { return text }, inBase64}

// loadingInputs returns the texts in arguments of tools that may run to their end, and of calls that
// are carried out, if their texts fit. It skips the check if a fitting tool may not be called.
func loadingInputs(t *review.T, fits func(about string) bool) []inputs.Input {
	var all []inputs.Input
	callable := append(t.Readers(), t.Changers()...)
	for _, tool := range callable {
		for name, s := range jsondoc.Fields(tool.Input) {
			if _, free := inputs.FreeText(nil, s.Raw); free {
				all = append(all, inputs.Argument(t, t.FlowOf(tool), name))
			}
		}
	}
	all = append(all, inputs.Carried(t)...)
	all = slices.DeleteFunc(all, func(x inputs.Input) bool { return !fits(x.About()) })
	for _, tool := range t.Report.Server.Tools {
		is := func(o client.Offer) bool { return o.Name == tool.Name }
		if t.Options.Effects && fits(inputs.Input{Offer: tool}.About()) && !slices.ContainsFunc(callable, is) {
			t.Skip("%[1]s may read data of a program, and was not called; --tool %[1]s allows it", tool.Name)
		}
	}
	return all[:min(len(all), inputs.Max)]
}

// takesSerialized reports whether a text is about data of a program.
func takesSerialized(about string) bool { return client.Mentions(about, serializedNames) }

// callsFunction reports whether serialized data calls a function, for two words. The data is sent
// as it is and in base64.
func callsFunction(t *review.T, x inputs.Input) bool {
	for _, s := range serializedCalls {
		for _, encode := range dataEncodings {
			a, calls := confirmedTwice(func(number int) (client.Answer, bool) {
				word := repeatedWords[number]
				a := x.Send(encode(fmt.Sprintf(s.text, word)))
				return a, strings.Contains(a.ShownTexts(), strings.Repeat(word, 3))
			})
			if calls {
				x.Refute(t, review.Critical, s.name+" is carried out", "called", a)
				return true
			}
		}
	}
	return false
}

// opensSerialized reports whether serialized data opens a URL, twice. The same URL in a text must stay
// unopened.
func opensSerialized(t *review.T, x inputs.Input) bool {
	if t.Client.HTTP != nil && !t.OnLoopback() {
		return false
	}
	c := inputs.NewCanary(t)
	if c == nil {
		return false
	}
	defer c.Close()
	number := 0
	opens := func(text string, encode func(string) string) (client.Answer, bool) {
		number++
		return c.Opens(inputs.CanaryURL, number, func(u string) client.Answer { return x.Send(encode(fmt.Sprintf(text, u))) })
	}
	for _, s := range serializedRequests {
		for _, encode := range dataEncodings {
			if _, does := opens(s.text, encode); !does {
				continue
			}
			if _, links := opens("sealab '%s'", encode); links {
				return false
			}
			if a, again := opens(s.text, encode); again {
				x.Refute(t, review.Critical, s.name+" is carried out: the server opens its URL", "called", a)
				return true
			}
		}
	}
	return false
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
