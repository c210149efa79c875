// Package inputs has the texts of calls that a client chooses, such as arguments, answers to forms
// and parameters of resource templates. It also has the values, paths and URLs that several families
// of checks send in them.
package inputs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
	// with returns the arguments with another text; nil for an answer.
	with func(text string) json.RawMessage
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
		reading = append(reading, wholeCall(t, tool))
	}
	return asks, reading
}

// wholeCall returns the call of a tool with all arguments of its schema, given ones first.
func wholeCall(t *review.T, tool client.Offer) client.Flow {
	whole := jsondoc.Merged(t.Options.Tools[tool.Name].Arguments, jsondoc.FullSample(tool.Input, 0))
	if !tool.Allows(whole) {
		whole = t.Sample(tool)
	}
	return t.FlowOf(tool).With(whole)
}

// textsOf returns the texts in the arguments of a call, also those inside of objects and the first of each list.
func textsOf(t *review.T, f client.Flow) []Input {
	var all []Input
	properties, given := jsondoc.ParseSchema(f.Offer.Input).Properties, jsondoc.Members(f.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		put := func(v json.RawMessage) json.RawMessage { return f.WithArgument(name, v).Arguments }
		for _, p := range placesIn(name, given[name], properties[name], put, 0) {
			all = append(all, argument(t, f, p))
		}
	}
	return all
}

// A place is a text in the arguments of a call, with its name, its value and schema. put returns the arguments
// with another value.
type place struct {
	name          string
	value, schema json.RawMessage
	put           func(json.RawMessage) json.RawMessage
}

// maxPlaceDepth is the depth of the deepest texts in arguments that are tested.
const maxPlaceDepth = 3

// placesIn returns the texts in a value that put puts into the arguments.
func placesIn(name string, value, schema json.RawMessage, put func(json.RawMessage) json.RawMessage, depth int) []place {
	if _, ok := FreeText(value, schema); ok {
		return []place{{name, value, schema, put}}
	}
	s := jsondoc.ParseSchema(schema)
	var list []json.RawMessage
	switch {
	case depth == maxPlaceDepth || s.Listed():
		return nil
	case s.TypeOf() == "array" && json.Unmarshal(value, &list) == nil && len(list) > 0:
		return placesIn(name+"[0]", list[0], s.Items, func(v json.RawMessage) json.RawMessage {
			raw, _ := json.Marshal(append([]json.RawMessage{v}, list[1:]...)) // JSON always encodes
			return put(raw)
		}, depth+1)
	}
	var all []place
	given := jsondoc.Members(value)
	for _, member := range jsondoc.SortedKeys(given) {
		all = append(all, placesIn(name+"."+member, given[member], s.Properties[member], func(v json.RawMessage) json.RawMessage {
			return put(jsondoc.WithMember(value, member, v))
		}, depth+1)...)
	}
	return all
}

// Argument returns the text in one argument of a call.
func Argument(t *review.T, f client.Flow, name string) Input {
	return argument(t, f, place{name, jsondoc.Members(f.Arguments)[name], jsondoc.ParseSchema(f.Offer.InputSchema()).Properties[name], func(v json.RawMessage) json.RawMessage {
		return f.WithArgument(name, v).Arguments
	}})
}

// argument returns the text in a place of a call.
func argument(t *review.T, f client.Flow, p place) Input {
	text, _ := FreeText(p.value, p.schema)
	with := func(text string) json.RawMessage { return p.put(jsondoc.Quote(text)) }
	return Input{Name: f.Target + ": " + p.name, Given: text, Offer: f.Offer, Query: TakesQuery(p.name, f.Offer.Description, p.value, p.schema), with: with, Send: func(text string) client.Answer {
		return t.Tried(t.Call(f.With(with(text)).Call(client.FirstUser)))
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
		for name, s := range jsondoc.Fields(question.Questions[key].Form()) {
			given, ok := FreeText(content[name], s.Raw)
			if !ok {
				continue
			}
			all = append(all, Input{Name: fmt.Sprintf("the answer %s of %s", name, where), Given: given, URL: review.TakesURL(name, s), Query: TakesQuery(name, "", content[name], s.Raw), Flow: &o.Flow, Send: func(text string) client.Answer {
				return t.Tried(t.Walk(o.Flow.WithAnswer(round, key, name, jsondoc.Quote(text)), o.User))
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
		for _, x := range textsOf(t, o.Flow) {
			x.Name, x.Flow = strings.Replace(x.Name, ": ", ", carried out: ", 1), &o.Flow
			x.Send = func(text string) client.Answer { return t.Tried(t.Fresh(o.Flow.With(x.with(text)), o.User)) }
			all = append(all, x)
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// maxLater is the number of inputs that [Later] returns.
const maxLater = 3

// Later returns the texts in arguments that the last question of a flow shows, and the first one does not.
func Later(t *review.T) []Input {
	var all []Input
	for _, o := range t.Oracles {
		for _, x := range textsOf(t, o.Flow) {
			word := t.Word()
			x.Name, x.Flow = strings.Replace(x.Name, ": ", ", asked about later: ", 1), &o.Flow
			first := x.Send
			x.Send = func(text string) client.Answer {
				_, a, _ := t.Client.Mint(t.Context, o.Flow.With(x.with(text)), o.User) // the answer tells the error
				return t.Tried(a)
			}
			if len(o.Flow.Rounds) > 0 && len(all) < maxLater && !strings.Contains(first(word).ShownTexts(), word) && strings.Contains(x.Send(word).ShownTexts(), word) {
				all = append(all, x)
			}
		}
	}
	return all
}

// Done returns the texts in arguments of tools that complete without a question and do not claim to be read-only.
func Done(t *review.T) []Input {
	var all []Input
	for _, tool := range Doers(t) {
		all = append(all, textsOf(t, wholeCall(t, tool))...)
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// Doers returns the tools that do not claim to be read-only and complete without a question. The user has named
// them, or they have no name of tools with effects.
func Doers(t *review.T) []client.Offer {
	return slices.DeleteFunc(t.Changers(), func(tool client.Offer) bool {
		_, named := t.Options.Tools[tool.Name]
		return t.Asks(tool) || !named && client.Mentions(tool.Name, client.Changing)
	})
}

// FreeText returns the text of a value, or of the default. It reports whether the schema takes
// texts that it does not list.
func FreeText(value, schema json.RawMessage) (string, bool) {
	s := jsondoc.ParseSchema(schema)
	if value == nil {
		value = s.Default
	}
	text, _ := jsondoc.Text(value) // "" if it is not a string
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

var (
	// languageName matches names of arguments that are a query in a language.
	languageName = regexp.MustCompile(`(?i)^(?:(?:raw|my|pg)?sql(?:ite)?|(?:raw_?)?sql_?(?:query|statement|text|code|command|string)|cypher|sparql|graphql|hql|soql|(?:query|statement)_?sql)$`)
	// statementName matches names of arguments that are a query if the text of their tool says so.
	statementName = regexp.MustCompile(`(?i)^(?:q|query|queries|statement|command|code|script|text|input)$`)
	// statement matches queries of a language as samples.
	statement = regexp.MustCompile(`(?is)^\s*(?:select\s.+\sfrom\s|select\s+[\d*(]|with\s.+\sas\s*\(.+select\s|insert\s+into\s|update\s.+\sset\s|delete\s+from\s|explain\s+(?:query\s+plan\s+)?select\s|match\s*\(.*\).*\sreturn\s)`)
	// statementOf matches texts that announce a query of a language in place of a value.
	statementOf = regexp.MustCompile(`(?i)\b(?:any|an?|the|one|single|read-only|valid|raw)?\s*(?:\bsql\b|\bcypher\b|\bsparql\b)[ -](?:quer(?:y|ies)|statements?|select|commands?|expressions?|scripts?|to\b)|\bselect\b (?:quer(?:y|ies)|statements?)|\b(?:runs?|executes?|evaluates?) (?:an?|any|the|one|read-only|raw|arbitrary)?\s*(?:read-only |single )?(?:sql|select|cypher|sparql)\b`)
)

// TakesQuery reports whether an argument is a query of a language by design: by its name, by a sample, by
// its description, or, if its name may be that of a query, by the description of its tool.
func TakesQuery(name, about string, given, schema json.RawMessage) bool {
	if languageName.MatchString(name) {
		return true
	}
	s := jsondoc.ParseSchema(schema)
	for _, sample := range append(s.Examples, given, s.Default) {
		if text, ok := jsondoc.Text(sample); ok && statement.MatchString(text) {
			return true
		}
	}
	description := s.About
	if statementName.MatchString(strings.ReplaceAll(name, "_", "")) {
		description += "\n" + about
	}
	return statementOf.MatchString(description)
}
