package main

import (
	"sealab/codecs"
	"sealab/internal/lab"
)

// A description is a design's row as JSON.
type description struct {
	Name       string            `json:"name"`
	Kind       codecs.Kind       `json:"kind"`
	Doc        string            `json:"doc"`
	Spec       string            `json:"specification"`
	Prefix     string            `json:"prefix"`
	Primitive  string            `json:"primitive,omitempty"`
	Amortised  bool              `json:"amortised,omitempty"`
	Allocates  string            `json:"allocates,omitempty"`
	MinSecret  int               `json:"min_secret_bytes"`
	KeySize    int               `json:"secret_bytes,omitempty"` // exact
	MaxKeys    int               `json:"max_keys,omitempty"`
	Tokens     []tokenLength     `json:"tokens,omitempty"`
	Options    []optionChoice    `json:"options,omitempty"`
	Guarantees []statedGuarantee `json:"guarantees"`
}

type tokenLength struct {
	Payload int `json:"payload_bytes"`
	Token   int `json:"token_bytes"`
}

type optionChoice struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Values []string `json:"values"` // the first is the default
}

type statedGuarantee struct {
	Property codecs.Property `json:"property"`
	Holds    bool            `json:"holds"`
	Reason   string          `json:"reason,omitempty"`
}

func describeAll(ds []codecs.Design) []description {
	all := make([]description, 0, len(ds))
	for _, d := range ds {
		all = append(all, describe(d))
	}
	return all
}

func describe(d codecs.Design) description {
	out := description{
		Name: d.Name, Kind: d.Kind(), Doc: d.Doc, Spec: d.Spec, Prefix: d.Prefix,
		Primitive: lab.HooksOf(d).Primitive, Amortised: lab.HooksOf(d).Amortised, Allocates: lab.HooksOf(d).Allocates,
		MinSecret: codecs.MinSecret, KeySize: d.KeySize, MaxKeys: d.MaxKeys,
	}
	for _, n := range listedSizes {
		if lab.HooksOf(d).TokenSize != nil {
			out.Tokens = append(out.Tokens, tokenLength{n, lab.HooksOf(d).TokenSize(n)})
		}
	}
	for _, o := range d.Options {
		out.Options = append(out.Options, optionChoice{o.Name, o.Doc, o.Values})
	}
	for _, g := range d.GuaranteesFor(nil) {
		out.Guarantees = append(out.Guarantees, statedGuarantee(g))
	}
	return out
}
