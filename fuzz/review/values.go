package review

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// learn asks for the completions of required prompt arguments whose values are unknown.
func (r *Review) learn(ctx context.Context) {
	if !r.Report.Server.Has("completions") {
		return
	}
	for _, p := range r.Report.Server.Prompts {
		for _, a := range p.Arguments {
			if !a.Required || len(r.valuesOf(a.Name)) > 1 {
				continue
			}
			answer := r.Client.Call(ctx, client.Call{Method: "completion/complete", Ref: map[string]string{"type": "ref/prompt", "name": p.Name},
				Argument: map[string]string{"name": a.Name, "value": ""}, As: client.FirstUser})
			r.completed[a.Name] = append(r.completed[a.Name], answer.Completions()...)
		}
	}
}

// valuesOf returns texts for an argument of a name: those that the user gave for an argument of this
// name, those that the schema of a tool lists, and completions.
func (r *Review) valuesOf(name string) []json.RawMessage {
	var all []json.RawMessage
	for _, t := range r.Report.Server.Tools {
		given := r.Options.Tools[t.Name]
		all = append(all, jsondoc.Members(given.Arguments)[name], jsondoc.Members(given.Other)[name])
	}
	for _, t := range r.Report.Server.Tools {
		s := jsondoc.ParseSchema(jsondoc.ParseSchema(t.Input).Properties[name])
		all = append(append(append(all, s.Enum...), s.Default), s.Examples...)
	}
	for _, text := range r.completed[name] {
		all = append(all, jsondoc.Quote(text))
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(raw json.RawMessage) bool {
		var text string
		again := seen[string(raw)]
		seen[string(raw)] = true
		return again || json.Unmarshal(raw, &text) != nil || text == ""
	})
}

// PromptArguments returns two values for each required argument of a prompt, known ones if there
// are any. Both are nil if the prompt requires no argument.
func (r *Review) PromptArguments(p client.Offer) (arguments, other json.RawMessage) {
	one, two := jsondoc.Arguments{}, jsondoc.Arguments{}
	for _, a := range p.Arguments {
		if !a.Required {
			continue
		}
		values := append(r.valuesOf(a.Name), jsondoc.Quote("probe"), jsondoc.Quote("sample"))
		one[a.Name], two[a.Name] = values[0], values[1]
	}
	if len(one) == 0 {
		return nil, nil
	}
	return jsondoc.Object(one), jsondoc.Object(two)
}

// Sample returns arguments that the schema of a tool allows. Arguments that take any text have a
// known value of an argument of the same name.
func (r *Review) Sample(t client.Offer) json.RawMessage {
	sample := jsondoc.Arguments{}
	maps.Copy(sample, jsondoc.Members(jsondoc.Samples(t.Input, 0)[0]))
	properties := jsondoc.ParseSchema(t.Input).Properties
	for name := range sample {
		if values := r.valuesOf(name); len(values) > 0 && jsondoc.ParseSchema(properties[name]).AnyText() {
			sample[name] = values[0]
		}
	}
	return jsondoc.Object(sample)
}
