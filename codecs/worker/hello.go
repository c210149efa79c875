package worker

import (
	"slices"
	"strings"

	"sealab/codecs"
)

// MaxLine is the longest line, in bytes, that a server reads, and the default
// of [Limits] for a client.
const MaxLine = 64 << 20

// An Ability is something that a worker can do beyond its kind.
type Ability string

// The abilities. Workers may name others.
const (
	AbilityClock Ability = "clock" // takes the time from the request
	AbilityBatch Ability = "batch" // judges many tokens in one request
	AbilityBench Ability = "bench" // times operations inside the worker
)

// A Hello is how a worker presents itself.
type Hello struct {
	Protocol   int                      `json:"protocol"`
	Name       string                   `json:"name"`
	Version    string                   `json:"version"`
	Kind       codecs.Kind              `json:"kind"`
	Abilities  []Ability                `json:"abilities"`
	Guarantees map[codecs.Property]bool `json:"guarantees"`
	Options    []Choice                 `json:"options"`
}

// A Choice is a codecs.Option as the protocol writes it.
type Choice struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Values []string `json:"values"`
}

// guarantees appends the guarantees of a design, sorted by property.
func (l *line) guarantees(stated []codecs.Guarantee) *line {
	sorted := slices.SortedFunc(slices.Values(stated), func(a, b codecs.Guarantee) int {
		return strings.Compare(string(a.Property), string(b.Property))
	})
	return l.object("guarantees", func() {
		for _, g := range sorted {
			l.bool(string(g.Property), g.Holds)
		}
	})
}

// choices appends the options of a design.
func (l *line) choices(options []codecs.Option) *line {
	return l.array("options", len(options), func(i int) {
		o := options[i]
		l.element(func() { texts(l.text("name", o.Name).text("doc", o.Doc), "values", o.Values) })
	})
}
