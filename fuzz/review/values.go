package review

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// collect records the texts that are known for arguments, by name: those that the user gave for an
// argument of a tool, then those that a schema lists, then those that descriptions have.
func (r *Review) collect() {
	for _, t := range r.Report.Server.Tools {
		given := r.Options.Tools[t.Name]
		for _, arguments := range []json.RawMessage{given.Arguments, given.Other} {
			for name, v := range jsondoc.Members(arguments) {
				r.record(name, v)
			}
		}
	}
	for _, t := range r.Report.Server.Tools {
		for name, s := range jsondoc.Fields(t.Input) {
			r.record(name, append(append(slices.Clone(s.Enum), s.Default), s.Examples...)...)
		}
	}
	for _, t := range r.Report.Server.Tools {
		for name, s := range jsondoc.Fields(t.Input) {
			r.recordDescribed(name, s.About, t.Description)
		}
	}
	for _, p := range r.Report.Server.Prompts {
		for _, a := range p.Arguments {
			r.recordDescribed(a.Name, a.Description, p.Description)
		}
	}
}

// recordDescribed records the values of an argument in its description and in that of its tool or prompt.
func (r *Review) recordDescribed(name, about, offer string) {
	for _, text := range append(describedValues(about), listedBehind(name, offer)...) {
		r.record(name, jsondoc.Quote(text))
	}
}

// learn asks for the completions of required prompt arguments of which less than two values are
// known, and records them.
func (r *Review) learn(ctx context.Context) {
	if !r.Report.Server.Has("completions") {
		return
	}
	for _, p := range r.Report.Server.Prompts {
		for _, a := range p.Arguments {
			if !a.Required || len(r.values[a.Name]) > 1 {
				continue
			}
			answer := r.Client.Call(ctx, client.Complete(client.PromptRef(p.Name), a.Name, ""))
			for _, text := range answer.Completions() {
				r.record(a.Name, jsondoc.Quote(text))
			}
		}
	}
}

// record adds values to the known ones of an argument, unless they are empty, known or not texts.
func (r *Review) record(name string, values ...json.RawMessage) {
	for _, v := range values {
		if text, _ := jsondoc.Text(v); text != "" && !jsondoc.Contains(r.values[name], v) {
			r.values[name] = append(r.values[name], v)
		}
	}
}

// PromptArguments returns two values for each required argument of a prompt, known ones if there
// are any. Both are nil if the prompt requires no argument.
func (r *Review) PromptArguments(p client.Offer) (arguments, other json.RawMessage) {
	one, two := jsondoc.Arguments{}, jsondoc.Arguments{}
	for _, a := range p.Arguments {
		if !a.Required {
			continue
		}
		values := append(slices.Clone(r.values[a.Name]), textsFor(a.Name)...)
		one[a.Name], two[a.Name] = values[0], values[1]
	}
	if len(one) == 0 {
		return nil, nil
	}
	return jsondoc.Object(one), jsondoc.Object(two)
}

// namedTexts are two texts for arguments whose names have one of the words.
var namedTexts = []struct {
	words    *regexp.Regexp
	one, two string
}{
	{nameWith("amount|number|count|quantity|price|total|cents|year|days|hours|minutes|limit"), "20", "30"},
	{nameWith("date|day"), "2027-01-29", "2027-02-26"},
	{nameWith("email|mail"), "ann@example.com", "ben@example.com"},
	{nameWith("url|link"), "https://example.com/one", "https://example.com/two"},
	{nameWith("language|lang|locale"), "en", "de"},
}

// nameWith matches names whose last word is one of words.
func nameWith(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^| )(` + words + `)$`)
}

// textsFor returns two texts for an argument without a schema.
func textsFor(name string) []json.RawMessage {
	for _, n := range namedTexts {
		if n.words.MatchString(client.NameWords(name)) {
			return []json.RawMessage{jsondoc.Quote(n.one), jsondoc.Quote(n.two)}
		}
	}
	return []json.RawMessage{jsondoc.Quote("probe"), jsondoc.Quote("sample")}
}

// Sample returns the arguments that the user gave for a tool, or else arguments that its schema allows. Texts
// that the schema does not list have a known value of an argument of the same name.
func (r *Review) Sample(t client.Offer) json.RawMessage {
	if given := r.Options.Tools[t.Name].Arguments; given != nil {
		return given
	}
	sample := jsondoc.Arguments{}
	maps.Copy(sample, jsondoc.Members(jsondoc.Samples(t.Input, 0)[0]))
	properties := jsondoc.ParseSchema(t.Input).Properties
	for name := range sample {
		fits := func(v json.RawMessage) bool { return jsondoc.AllowsText(properties[name], v) }
		if i := slices.IndexFunc(r.values[name], fits); i >= 0 {
			sample[name] = r.values[name][i]
		}
	}
	return jsondoc.Object(sample)
}

var (
	// exampleText matches what follows words that announce examples, up to the end of a sentence.
	exampleText = regexp.MustCompile(`(?i)(?:\be\.g\.,?|\bfor example,?|\bsuch as|\bone of:?|\beither|\bexamples?:|\bvalues?:)\s*([^;()\n]{2,100})`)
	// bracketText matches a text in parentheses, which may be a list.
	bracketText = regexp.MustCompile(`\(([^()\n]{3,100})\)`)
	// betweenValues matches what separates the values of a list in prose.
	betweenValues = regexp.MustCompile(`\s*(?:,\s*(?:or|and)\s|[,|]|\s/\s|\s(?:or|and)\s)\s*`)
	// aboutValues matches words about values, which are no values.
	aboutValues = regexp.MustCompile(`(?i)(?:^|[\s(,])(?:optional|required|default|at|up|in|of|the|an?|to|for|if|no|not|only|any|other|max|min|maximum|minimum|inclusive|characters|digits|see|etc|more)(?:[\s),:]|$)`)
)

// longestDescribed is the length of the longest value in a description, in bytes.
const longestDescribed = 40

// describedValues returns the values that the description of an argument lists or gives as examples.
func describedValues(description string) []string {
	var all []string
	for _, m := range exampleText.FindAllStringSubmatch(description, -1) {
		sentence, _, _ := strings.Cut(m[1], ". ")
		values := valuesIn(sentence)
		all = append(all, values[:min(len(values), 1)]...)
		if rest := values[min(len(values), 1):]; !slices.ContainsFunc(rest, aboutValues.MatchString) {
			all = append(all, rest...)
		}
	}
	for _, m := range bracketText.FindAllStringSubmatch(description, -1) {
		if values := valuesIn(m[1]); len(values) > 1 && !aboutValues.MatchString(m[1]) && !exampleText.MatchString(m[1]) {
			all = append(all, values...)
		}
	}
	return slices.DeleteFunc(all, func(v string) bool {
		return v == "" || len(v) > longestDescribed || len(strings.Fields(v)) > 3 || aboutValues.MatchString(v)
	})
}

// valuesIn returns the values of a list in prose, without quotation marks.
func valuesIn(list string) []string {
	var all []string
	for _, v := range betweenValues.Split(list, -1) {
		v = strings.Trim(strings.TrimSpace(v), "\"'`“”„‘’")
		all = append(all, strings.Trim(strings.TrimRight(v, ".!?:"), "\"'`“”„‘’"))
	}
	return all
}

// listedBehind returns the values in parentheses behind the name of an argument in a text about a tool or
// prompt.
func listedBehind(name, text string) []string {
	m := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `\s*(\([^()\n]{3,100}\))`).FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return describedValues(m[1])
}
