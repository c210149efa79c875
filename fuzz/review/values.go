package review

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

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
