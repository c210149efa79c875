package attack

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// perByte is how many bytes a reader may allocate for each byte of a token.
const perByte = 24

// lengths are those of hostile tokens from a length to another, each four times
// the last; what is shorter than 256 bytes is no length for them.
func lengths(from, to int) []int {
	var all []int
	for n := to; n >= max(from, 256); n /= 4 {
		all = append(all, n)
	}
	slices.Reverse(all)
	return all
}

// memoryPerByte presents texts of growing length and reads what was allocated.
func memoryPerByte(t *Trial) {
	if t.Subject.Memory != nil {
		t.memoryElsewhere()
		return
	}
	p, tok, ok := t.base()
	if !ok {
		return
	}
	t.note("up to %s", size(t.Budget.Bytes))
	for _, b := range bombs(tok, t.prefixOf(tok)) {
		for _, n := range lengths(t.Budget.Bytes>>12, t.Budget.Bytes) {
			if t.spent() {
				t.note("until the time was over, at %s of %s", size(n), b.name)
				return
			}
			t.try(codecs.Total)
			text := []byte(b.text(n))
			enough := uint64(perByte*len(text) + 1<<20)
			var call verdict.Call
			if grown := t.allocates(enough, func() { call = p.unseal(text, tok.Under) }); grown > enough {
				t.refute(codecs.Total, fmt.Sprintf("%d bytes of %s make the reader allocate %d", len(text), b.name, grown), call)
				return
			}
		}
	}
}

// The bounds of work. A text is held against shorter ones that have as many bytes
// between them: linear work is then the same, and whatever else the machine does
// meets both alike. Quadratic work is sixteen times as much.
const (
	shorter   = 16                     // how many shorter texts stand against a long one
	outgrown  = 6                      // how many times as long as these it may take
	telling   = 100 * time.Millisecond // what takes less says nothing
	farEnough = 250 * time.Millisecond // what takes more is the end of the climb: a request has a deadline
	rounds    = 3                      // how often both are measured, in turn
)

// workPerByte times the answers to texts of a length that any subject soon gets
// through, and workOfLongest those to the longest.
func workPerByte(t *Trial)   { t.climb(t.Budget.Bytes/4, telling) }
func workOfLongest(t *Trial) { t.climb(t.Budget.Bytes, farEnough) }

// climb presents texts of growing length, of each kind until one takes more than
// enough, and times the answers.
func (t *Trial) climb(to int, enough time.Duration) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.Budget.Stopwatch == nil {
		t.skip("no clock was given")
		return
	}
	c := &climb{t: t, party: p, token: tok, enough: enough, lengths: lengths(t.Budget.Bytes>>12, to)}
	lowest := to
	for _, b := range bombs(tok, t.prefixOf(tok)) {
		reached := c.up(b)
		if t.spent() || t.broken() || t.fell(codecs.Total) {
			t.note("until the time was over, at %s", b.name)
			return
		}
		lowest = min(lowest, reached)
	}
	t.note("every text up to %s of %s", size(lowest), size(to))
}

// A climb presents texts of one kind at growing lengths.
type climb struct {
	t       *Trial
	party   *Party
	token   *Token
	enough  time.Duration
	lengths []int
}

// up climbs with one kind of text and returns the greatest length that was
// judged. What a worker cannot read at all ends the climb of every kind.
func (c *climb) up(b bomb) (reached int) {
	for i, n := range c.lengths {
		if c.t.spent() {
			return reached
		}
		said := len(c.t.Subject.said())
		call, took := c.takes(b, n, 1)
		if call.Answer.Outcome == verdict.Fault {
			if c.unread(call, n, said) {
				c.lengths = c.lengths[:i]
			}
			return reached
		}
		reached = n
		c.t.try(codecs.Total)
		if took > telling && c.outgrows(b, n, took) {
			return reached
		}
		if took > c.enough {
			return reached
		}
	}
	return reached
}

// outgrows reports, and records, that n bytes take much longer than as many in
// shorter texts.
func (c *climb) outgrows(b bomb, n int, first time.Duration) bool {
	_, short := c.takes(b, n/shorter, shorter)
	if first <= outgrown*short {
		return false
	}
	whole, parts := []time.Duration{first}, []time.Duration{short}
	var call verdict.Call
	for range rounds {
		var took time.Duration
		call, took = c.takes(b, n, 1)
		whole = append(whole, took)
		_, took = c.takes(b, n/shorter, shorter)
		parts = append(parts, took)
	}
	long, short := median(whole), median(parts)
	if long <= outgrown*short || long <= telling {
		return false
	}
	c.t.refute(codecs.Total, fmt.Sprintf("%s of %s take %s, and %d texts of a %dth of that %s together", size(n), b.name, long, shorter, shorter, short), call)
	return true
}

// takes is the time of presenting a text of n bytes a number of times.
func (c *climb) takes(b bomb, n, times int) (call verdict.Call, took time.Duration) {
	text := []byte(b.text(n))
	before := c.t.Budget.Stopwatch()
	for range times {
		call = c.party.ask(text, c.token.Under)
	}
	return call, c.t.Budget.Stopwatch() - before
}

// unread reports that a worker which broke at a text of n bytes breaks at an
// honest state of that length too: it does not read such lines, and whoever sits
// in front of a codec bounds them. Otherwise the fault is recorded if it shows
// again. said is how much misbehaviour had been seen before.
func (c *climb) unread(broke verdict.Call, n, said int) bool {
	s := c.t.Subject
	if s.Worker != nil && n > longLine {
		state := fmt.Appendf(nil, `{"step":"%s"}`, bytes.Repeat([]byte("a"), n/2))
		if c.party.sealQuietly(state, c.token.Under).Outcome == verdict.Fault {
			s.excuse(said)
			return true
		}
		if broke = c.party.ask(broke.Token, c.token.Under); broke.Answer.Outcome != verdict.Fault {
			s.excuse(said)
			return true
		}
	}
	c.t.fault(broke)
	return false
}

// longLine is what every worker has to read.
const longLine = 1 << 16

// size is n bytes in the largest unit that divides them.
func size(n int) string {
	switch {
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
