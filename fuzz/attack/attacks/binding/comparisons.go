package binding

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// A comparison asks whether a token minted in one context is accepted in another.
type comparison struct {
	from, to codecs.Context
	state    []byte
	aims     []codecs.Property
	issue    func() string
}

// A comparisonBatch collects comparisons, so that a worker gets many requests at once.
type comparisonBatch struct {
	in      *attack.Instance
	waiting []comparison
	bytes   int // total size of the contexts of those that wait
}

// The number of comparisons, and of bytes in their contexts, at which those that wait are
// carried out.
const (
	comparedAtOnce = 64
	comparedBytes  = 1 << 20
)

// confusedBy returns the properties that do not hold if two values of a field are read as the same.
func confusedBy(f fields.Field) []codecs.Property {
	return []codecs.Property{codecs.Unambiguous, f.Property}
}

// across mints for one value of a field and presents for the other, in both directions.
func (t trial) across(in *attack.Instance, under codecs.Context, f fields.Field, a, b string, how string) {
	if t.Fell(codecs.Unambiguous) && t.Fell(f.Property) {
		return
	}
	for _, v := range [][2]string{{a, b}, {b, a}} {
		t.between(in, f.Put(under, v[0]), f.Put(under, v[1]), f, "%s %+.60q and %+.60q are treated as the same: %s", f.Name, v[0], v[1], how)
	}
}

// between mints in one context and presents in another that differs in a field.
func (t trial) between(in *attack.Instance, from, to codecs.Context, f fields.Field, issue string, args ...any) {
	t.compare(in, comparison{from: from, to: to, aims: confusedBy(f), issue: func() string { return fmt.Sprintf(issue, args...) }})
}

// read mints in one context and presents in another. The two differ in meaning.
func (t trial) read(in *attack.Instance, from, to codecs.Context, how string) {
	t.compare(in, comparison{from: from, to: to, aims: ambiguityProperties, issue: func() string {
		return fmt.Sprintf("two different contexts are treated as the same, %s: %s and %s", how, fields.Describe(from), fields.Describe(to))
	}})
}

// compare carries out a comparison, at once or together with later ones. It drops a comparison
// whose properties are all refuted already.
func (t trial) compare(in *attack.Instance, c comparison) {
	if t.fellAll(c.aims) {
		return
	}
	c.state = t.State(8)
	q := t.compared
	if q.in != in {
		t.compareWaiting()
	}
	q.in, q.waiting, q.bytes = in, append(q.waiting, c), q.bytes+contextSize(&c.from)+contextSize(&c.to)
	if !in.Ahead() || len(q.waiting) >= comparedAtOnce || q.bytes >= comparedBytes {
		t.compareWaiting()
	}
}

func (t trial) fellAll(ps []codecs.Property) bool {
	return !slices.ContainsFunc(ps, func(p codecs.Property) bool { return !t.Fell(p) })
}

// compareWaiting carries out the waiting comparisons.
func (t trial) compareWaiting() {
	q := t.compared
	all := q.waiting
	q.waiting, q.bytes = nil, 0
	states, from := make([][]byte, len(all)), make([]codecs.Context, len(all))
	for i, c := range all {
		states[i], from[i] = c.state, c.from
	}
	if len(all) == 0 {
		return
	}
	var asked []comparison
	var sealed []verdict.Call
	var texts [][]byte
	var to []codecs.Context
	for i, call := range q.in.SealAll(states, from) {
		if call.Answer.Outcome != verdict.Done {
			continue
		}
		asked, sealed = append(asked, all[i]), append(sealed, call)
		texts, to = append(texts, call.Answer.Out), append(to, all[i].to)
	}
	for i, call := range q.in.UnsealEach(texts, to) {
		t.Try(asked[i].aims...)
		if call.Answer.Outcome == verdict.Done {
			t.RefuteEach(asked[i].aims, attack.Accepted, asked[i].issue(), sealed[i], call)
		}
	}
}

// contextSize returns the total length in bytes of the values of a context.
func contextSize(c *codecs.Context) int {
	n := 0
	for _, f := range fields.All {
		v, _ := f.Get(c)
		n += len(v)
	}
	return n
}

// A presentation records a token's presentation in another context than its own, and how an
// acceptance is recorded.
type presentation struct {
	in       codecs.Context
	property codecs.Property
	record   func(codecs.Property, string, ...verdict.Call)
	issue    string
}

// presentIn presents tok in each of the contexts. It leaves out properties that are already
// refuted.
func (t trial) presentIn(in *attack.Instance, tok *attack.Token, all []presentation) {
	all = slices.DeleteFunc(all, func(p presentation) bool { return t.Fell(p.property) })
	contexts := make([]codecs.Context, len(all))
	for i, p := range all {
		contexts[i] = p.in
	}
	for i, call := range in.UnsealEach(slices.Repeat([][]byte{tok.Text}, len(all)), contexts) {
		t.Try(all[i].property)
		if call.Answer.Outcome == verdict.Done {
			all[i].record(all[i].property, all[i].issue, tok.Sealed, call)
		}
	}
}
