package worker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

// maxLine is the longest line, in bytes, that a server reads, and the default
// of [Limits] for a client.
const maxLine = 64 << 20

// An Ability is something that a worker can do beyond its kind.
type Ability string

// The abilities. Workers may name others.
const (
	AbilityClock Ability = "clock" // takes the time from the request
	AbilityBatch Ability = "batch" // judges many tokens in one request
	AbilityBench Ability = "bench" // times operations inside the worker
	// AbilityParallel says that several processes of the worker may run side by side.
	AbilityParallel Ability = "parallel"
)

// Abilities returns the abilities that the laboratory uses.
func Abilities() []Ability {
	return []Ability{AbilityClock, AbilityBatch, AbilityBench, AbilityParallel}
}

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

// Unknown returns the properties that a hello claims or disclaims and that this version
// does not know, sorted.
func (h Hello) Unknown() (claimed, disclaimed []codecs.Property) {
	for _, p := range slices.Sorted(maps.Keys(h.Guarantees)) {
		switch _, err := codecs.ParseProperty(string(p)); {
		case err == nil:
		case h.Guarantees[p]:
			claimed = append(claimed, p)
		default:
			disclaimed = append(disclaimed, p)
		}
	}
	return claimed, disclaimed
}

// UnknownAbilities returns the abilities of a hello that the laboratory does not use.
func (h Hello) UnknownAbilities() []Ability {
	return slices.DeleteFunc(slices.Clone(h.Abilities), func(a Ability) bool { return slices.Contains(Abilities(), a) })
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

// Limits bound a worker. The zero value of a field means its default.
type Limits struct {
	// Start is how long a process may take from its start to its answer to
	// hello, and Request how long for any other answer. Defaults: 60 s, 10 s.
	Start, Request time.Duration
	// Line is the longest answer in bytes. An answer may also be at most
	// answerFactor times as long as the longest request so far, and answerRoom more: a
	// server may keep a state and send a short name for it. Default: 64 MiB.
	Line int
	// Patience is how many times Request an answer may take by the clock while the
	// process has worked for less than Request: a busy machine is not its fault. It has
	// no effect on systems that do not tell the time that a process worked. Default: 1.
	Patience int
	// Restarts is how many times a process that was ended is replaced.
	// Default: 50; negative: never.
	Restarts int
	// AfterFunc starts the timer of a deadline. Default: time.AfterFunc.
	AfterFunc func(time.Duration, func()) Timer
}

// A Timer is a deadline under way.
type Timer interface {
	// Stop calls the deadline off. It reports false if it has passed.
	Stop() bool
}

func (l Limits) withDefaults() Limits {
	if l.Start == 0 {
		l.Start = 60 * time.Second
	}
	if l.Request == 0 {
		l.Request = 10 * time.Second
	}
	if l.Line == 0 {
		l.Line = maxLine
	}
	if l.Restarts == 0 {
		l.Restarts = 50
	}
	if l.AfterFunc == nil {
		l.AfterFunc = func(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
	}
	return l
}

// An answer holds about as much as a request, again in base64: a token for a state, a
// state and a verdict for a token.
const (
	answerFactor = 4
	answerRoom   = 1 << 20
)

// answer returns the length in bytes of the longest answer if the longest request so far
// has the given length.
func (l Limits) answer(request int) int64 {
	return min(int64(l.Line), answerFactor*int64(request)+answerRoom)
}
