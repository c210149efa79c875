package worker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

// maxLine is the maximum length in bytes of a line that a server reads, and the
// default of [Limits] for a client.
const maxLine = 64 << 20

// An Ability is an optional feature of a worker.
type Ability string

// The abilities. Workers may name others.
const (
	AbilityClock Ability = "clock" // takes the time from the request
	AbilityBatch Ability = "batch" // judges many tokens in one request
	AbilityBench Ability = "bench" // times operations inside the worker
	// AbilityParallel: several processes of the worker may run side by side.
	AbilityParallel Ability = "parallel"
)

// Abilities returns the abilities that a client of this package uses.
func Abilities() []Ability {
	return []Ability{AbilityClock, AbilityBatch, AbilityBench, AbilityParallel}
}

// A Hello is a worker's description of itself.
type Hello struct {
	Protocol   int                      `json:"protocol"`
	Name       string                   `json:"name"`
	Version    string                   `json:"version"`
	Kind       codecs.Kind              `json:"kind"`
	Abilities  []Ability                `json:"abilities"`
	Guarantees map[codecs.Property]bool `json:"guarantees"`
	Options    []Choice                 `json:"options"`
}

// Unknown returns the properties of a hello that this version does not know,
// claimed and disclaimed, sorted.
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

// UnknownAbilities returns the abilities of a hello that clients do not use.
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
		l.element(func() { appendTexts(l.text("name", o.Name).text("doc", o.Doc), "values", o.Values) })
	})
}

// Limits bound a worker. The zero value of a field means its default.
type Limits struct {
	// Start bounds the time from the start of a process to its answer to hello,
	// and Request the time to any other answer. Defaults: 60 s, 10 s.
	Start, Request time.Duration
	// Line is the maximum length of an answer in bytes. An answer may also be
	// at most 12 times as long as the longest request so far, plus 1 MiB. All
	// earlier requests count, because a server may keep a state and return it
	// for a short name. A longer answer to a request of more than 1 MiB is
	// [codecs.ErrUnsupported], any other one breaks the protocol. Default: 64
	// MiB.
	Line int
	// Patience multiplies Request for a process that has worked for less than
	// Request, which happens on a busy machine. It has no effect on systems
	// that do not report the processor time of a process. Default: 1.
	Patience int
	// Restarts is the maximum number of restarts. Default: 50; negative: none.
	Restarts int
	// AfterFunc starts the timer of a deadline. Default: time.AfterFunc.
	AfterFunc func(time.Duration, func()) Timer
}

// A Timer is a running deadline.
type Timer interface {
	// Stop cancels the deadline. It reports false if the deadline has passed.
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

// An answer is about as long as its request: a token for a state, or a state
// and a verdict for a token. Padding to a power of four, base32 in short groups
// and base64 around them make a token 11 times as long as its state.
const (
	answerFactor = 12
	answerRoom   = 1 << 20
)

// answer returns the maximum length of an answer, given the length of the
// longest request so far, both in bytes.
func (l Limits) answer(request int) int64 {
	return min(int64(l.Line), answerFactor*int64(request)+answerRoom)
}
