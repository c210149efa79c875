// Package inputs has the texts of calls that a client chooses, such as arguments, answers to forms
// and parameters of resource templates. It also has the values, paths and URLs that several families
// of checks send in them.
package inputs

import (
	"encoding/json"
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// An Input is a text of a call that the user chooses.
type Input struct {
	Name  string
	Given string
	Offer client.Offer // that the call names; empty if there is none
	Flow  *client.Flow // of an answer; nil for an argument
	URL   bool         // whether it is an answer that takes a URL
	Query bool         // whether it takes a query of a language by design
	// argument is the name of the argument, or empty.
	argument string
	// Send makes the call with another text. A call that cannot be made has an answer without a
	// kind.
	Send func(text string) client.Answer
}

// Max is the number of inputs that a check tests.
const Max = 8

// Texts returns the texts in arguments of a tool that asks and of read-only tools, and with effects
// the texts in the last answers of flows.
func Texts(t *review.T) []Input {
	asks, reading := Calls(t)
	t.Oracle = nil // an argument belongs to no flow
	var all []Input
	for _, f := range append(asks, reading...) {
		all = append(all, textsOf(t, f)...)
	}
	if t.Options.Effects {
		all = append(all, Answers(t)...)
	}
	return all[:min(len(all), Max)]
}

// Calls returns the calls whose arguments are changed. It returns a tool that asks and, with effects,
// read-only tools with all arguments of their schema, given ones first.
func Calls(t *review.T) (asks, reading []client.Flow) {
	for _, o := range t.Oracles {
		if o.Flow.Method == "tools/call" && asks == nil {
			t.Oracle, asks = o, []client.Flow{o.Flow}
		}
	}
	readers := t.Readers()
	for _, tool := range readers[:min(len(readers), review.MaxTestedCalls)] {
		whole := jsondoc.Merged(t.Options.Tools[tool.Name].Arguments, jsondoc.FullSample(tool.Input, 0))
		if !tool.Allows(whole) {
			whole = t.Sample(tool)
		}
		reading = append(reading, t.FlowOf(tool).With(whole))
	}
	return asks, reading
}

// textsOf returns the texts in the arguments of a call.
func textsOf(t *review.T, f client.Flow) []Input {
	var all []Input
	properties, given := jsondoc.ParseSchema(f.Offer.Input).Properties, jsondoc.Members(f.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		if text, ok := FreeText(given[name], properties[name]); ok {
			x := Argument(t, f, name)
			x.Given = text
			all = append(all, x)
		}
	}
	return all
}

// Argument returns the text in one argument of a call.
func Argument(t *review.T, f client.Flow, name string) Input {
	query := TakesQuery(name, f.Offer.Description, jsondoc.Members(f.Arguments)[name], jsondoc.ParseSchema(f.Offer.InputSchema()).Properties[name])
	return Input{Name: f.Target + ": " + name, Offer: f.Offer, Query: query, argument: name, Send: func(text string) client.Answer {
		return t.Tried(t.Call(f.WithArgument(name, jsondoc.Quote(text)).Call(client.FirstUser)))
	}}
}

// Answers returns the texts in the answers of flows, those of the last rounds first.
func Answers(t *review.T) []Input {
	var last, earlier []Input
	for _, o := range t.Oracles {
		for i, stage := range o.Flow.Stages() {
			if all := answersOf(t, o, stage); i == 0 {
				last = append(last, all...)
			} else {
				earlier = append(earlier, all...)
			}
		}
	}
	return append(last, earlier...)
}

// answersOf returns the texts in the last answers of a stage of a flow.
func answersOf(t *review.T, o *review.Oracle, stage client.Flow) []Input {
	_, question, err := t.Client.Mint(t.Context, stage, o.User)
	if err != nil {
		return nil
	}
	var all []Input
	round, where := len(stage.Rounds), o.Flow.Target
	if round < len(o.Flow.Rounds) {
		where = fmt.Sprintf("%s in round %d", where, round+1)
	}
	for _, key := range jsondoc.SortedKeys(jsondoc.Members(stage.Last)) {
		content := o.Flow.Content(round, key)
		for name, property := range jsondoc.InOrder(jsondoc.ParseSchema(question.Questions[key].Form()).Properties) {
			given, ok := FreeText(content[name], property)
			if !ok {
				continue
			}
			all = append(all, Input{Name: fmt.Sprintf("the answer %s of %s", name, where), Given: given, URL: review.TakesURL(name, property), Query: TakesQuery(name, "", content[name], property), Flow: &o.Flow, Send: func(text string) client.Answer {
				a, _ := t.Client.Walk(t.Context, o.Flow.WithAnswer(round, key, name, jsondoc.Quote(text)), o.User)
				return t.Tried(a)
			}})
		}
	}
	return all
}

// Carried returns the texts in arguments of calls that ask first and are carried out.
func Carried(t *review.T) []Input {
	var all []Input
	for _, o := range t.Oracles {
		if o.Flow.Method != "tools/call" || o.Good.Kind != client.Completed {
			continue
		}
		properties, given := jsondoc.ParseSchema(o.Flow.Offer.Input).Properties, jsondoc.Members(o.Flow.Arguments)
		for _, name := range jsondoc.SortedKeys(given) {
			if text, ok := FreeText(given[name], properties[name]); ok {
				query := TakesQuery(name, o.Flow.Offer.Description, given[name], properties[name])
				all = append(all, Input{Name: o.Flow.Target + ", carried out: " + name, Given: text, Offer: o.Flow.Offer, Query: query, argument: name, Flow: &o.Flow, Send: func(text string) client.Answer {
					return t.Tried(t.Fresh(o.Flow.WithArgument(name, jsondoc.Quote(text)), o.User))
				}})
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// Done returns the texts in arguments of tools that do not claim to be read-only and complete without a
// question. The user has named these tools, or they have no name of tools with effects.
func Done(t *review.T) []Input {
	var all []Input
	for _, tool := range t.Changers() {
		_, named := t.Options.Tools[tool.Name]
		if t.Asks(tool) || !named && client.Mentions(tool.Name, client.Changing) {
			continue
		}
		all = append(all, textsOf(t, t.FlowOf(tool))...)
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// FreeText returns the text of a value, or of the default. It reports whether the schema takes
// texts that it does not list.
func FreeText(value, schema json.RawMessage) (string, bool) {
	s := jsondoc.ParseSchema(schema)
	if value == nil {
		value = s.Default
	}
	text, _ := jsondoc.Text(value) // no value: ""
	return text, s.TypeOf() == "string" && !s.Listed() && len(s.AnyOf) == 0
}

// About returns the texts about an input.
func (x Input) About() string {
	return x.Name + " " + x.Offer.Name + " " + x.Offer.Description + " " + string(x.Offer.Input)
}

// Refute records a finding about an input.
func (x Input) Refute(t *review.T, severity review.Severity, issue, got string, a client.Answer) {
	t.Refute(review.Finding{Case: x.Name, Severity: severity, Issue: x.Name + ": " + issue, Evidence: review.ExchangeText(a), Want: "see the check", Got: got, Flow: x.Flow})
}
