package offers

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
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

// loadingInputs returns the texts in arguments of tools that may run to their end, and of calls that
// are carried out, if their texts fit. It skips the check if a fitting tool may not be called.
func loadingInputs(t *review.T, fits func(about string) bool) []input {
	var all []input
	callable := append(t.Readers(), t.Changers()...)
	for _, tool := range callable {
		properties := jsondoc.ParseSchema(tool.Input).Properties
		for _, name := range jsondoc.SortedKeys(properties) {
			if _, free := freeText(nil, properties[name]); free {
				all = append(all, input{name: tool.Name + ": " + name, offer: tool, send: func(text string) client.Answer {
					arguments := jsondoc.Object(jsondoc.With(jsondoc.Members(t.Sample(tool)), name, jsondoc.Quote(text)))
					return t.Tried(t.Call(client.Call{Method: "tools/call", Target: tool.Name, Arguments: arguments}))
				}})
			}
		}
	}
	all = append(all, carriedInputs(t)...)
	all = slices.DeleteFunc(all, func(x input) bool { return !fits(aboutInput(x)) })
	for _, tool := range t.Report.Server.Tools {
		is := func(o client.Offer) bool { return o.Name == tool.Name }
		if t.Options.Effects && fits(aboutInput(input{offer: tool})) && !slices.ContainsFunc(callable, is) {
			t.Skip("%[1]s may read data of a program, and was not called; --tool %[1]s allows it", tool.Name)
		}
	}
	return all[:min(len(all), maxInputs)]
}

// aboutInput returns the texts about an input.
func aboutInput(x input) string {
	return x.name + " " + x.offer.Name + " " + x.offer.Description + " " + string(x.offer.Input)
}

// takesSerialized reports whether a text is about data of a program.
func takesSerialized(about string) bool { return client.Mentions(about, serializedNames) }

// callsFunction reports whether serialized data calls a function, for two words. The data is sent
// as it is and in base64.
func callsFunction(t *review.T, x input) bool {
	for _, s := range serializedCalls {
		for _, encode := range []func(string) string{func(text string) string { return text }, inBase64} {
			calls := func(word string) (client.Answer, bool) {
				a := x.send(encode(fmt.Sprintf(s.text, word)))
				return a, strings.Contains(textsOf(a), strings.Repeat(word, 3))
			}
			if _, does := calls("sealab26s"); !does {
				continue
			}
			if a, again := calls("sealab71s"); again {
				refuteInput(t, x, review.Critical, s.name+" is carried out", "called", a)
				return true
			}
		}
	}
	return false
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
