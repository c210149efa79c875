package resources

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// A bomb is a kind of text that is cheap to generate at any length.
type bomb struct {
	name string
	text func(n int) string // text returns about n bytes, plus a token at most
}

// bombKinds returns the kinds of long texts that are known to slow readers down.
func bombKinds(tok *attack.Token, prefix string) []bomb {
	repeated := func(head, text string) func(n int) string {
		return func(n int) string { return head + strings.Repeat(text, n/len(text)) }
	}
	before := func(run string) func(n int) string {
		return func(n int) string { return prefix + strings.Repeat(run, n) + "A" }
	}
	head, tail := string(tok.Text[:len(tok.Text)/2]), string(tok.Text[len(tok.Text)/2:])
	return []bomb{
		{"full stops", repeated("", ".")},
		{"letters", repeated("", "A")},
		{"letters behind the prefix", repeated(prefix, "A")},
		{"full stops behind the prefix", repeated(prefix, ".")},
		{"segments of one letter", repeated(prefix, "A.")},
		{"padding", repeated(prefix, "=")},
		{"line breaks", repeated(prefix, "\n")},
		{"hyphens before a letter", before("-")}, // a pattern that trims an end begins at each of them
		{"padding before a letter", before("=")},
		{"spaces before a letter", before(" ")},
		{"opening brackets", repeated("", "[")},
		{"an honest token and letters", repeated(string(tok.Text), "A")},
		{"an honest token in the middle", func(n int) string { return head + strings.Repeat("A", n) + tail }},
		{"opening braces, encoded", func(n int) string {
			return prefix + tokenfmt.Base64URL.Encode([]byte(strings.Repeat(`{"a":`, n/8)))
		}},
		{"text that is not ASCII", repeated("", "\u00e9")},
	}
}

// perByte is the number of bytes that a reader may allocate per byte of a token.
const perByte = 24

// lengthsUp returns the lengths of hostile tokens between two lengths, in bytes. Each is four
// times the one before. The smallest is 256.
func lengthsUp(from, to int) []int {
	var all []int
	for n := to; n >= max(from, 256); n /= 4 {
		all = append(all, n)
	}
	slices.Reverse(all)
	return all
}

// memoryPerByte presents texts of growing length and measures the memory that each makes the
// reader allocate.
func (t trial) memoryPerByte() {
	if t.Design.Memory != nil {
		t.memoryElsewhere()
		return
	}
	in, tok, ok := t.Base()
	if !ok {
		return
	}
	t.Note("up to %s", formatSize(t.Budget.Bytes))
	for _, b := range bombKinds(tok, t.PrefixOf(tok)) {
		for _, n := range lengthsUp(t.Budget.Bytes>>12, t.Budget.Bytes) {
			t.Try(codecs.Total)
			text := []byte(b.text(n))
			enough := uint64(perByte*len(text) + 1<<20)
			var call verdict.Call
			if grown := allocatedBytes(enough, func() { call = in.Unseal(text, tok.Under) }); grown > enough {
				t.Refute(codecs.Total, fmt.Sprintf("%d bytes of %s make the reader allocate %d", len(text), b.name, grown), call)
				return
			}
		}
	}
}

// allocatedAbout returns the number of bytes that this process has allocated, without stopping
// it. The count is exact for large objects and lags by some spans for small ones.
func allocatedAbout() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// allocatedBytes runs do up to three times and returns the least number of bytes that a run made
// this process allocate. It stops at the first that is at most enough. Other work in the
// process may add to the count.
func allocatedBytes(enough uint64, do func()) uint64 {
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	least := ^uint64(0)
	for range 3 {
		before := allocated()
		do()
		if least = min(least, allocated()-before); least <= enough {
			break
		}
	}
	return least
}

// The bounds of work. The time for a text is compared with the time for shorter texts of the
// same total length. Linear work takes as long for both, and the load of the machine affects
// both alike. Quadratic work takes sixteen times as long.
const (
	partCount       = 16                     // number of shorter texts that match a long one
	maxLinearFactor = 5                      // bound on the time for a text, relative to a quarter of it
	maxGrowth       = 6                      // bound on the time for a text, relative to its parts
	minCompared     = 100 * time.Millisecond // shorter times are not compared
	farEnough       = 250 * time.Millisecond // longer times end the climb, because a request has a deadline
	timingRepeats   = 3                      // of the text and of its parts, alternating
)

// longestLine is the length in bytes of the longest text sent to a worker. A line of the worker
// protocol holds 64 MiB, and one byte of a text may take up six.
const longestLine = 16 << 20

// longest returns the length in bytes of the longest hostile text.
func (t trial) longest() int {
	if t.Design.Worker != nil {
		return min(longestLine, t.Budget.Bytes)
	}
	return t.Budget.Bytes
}

// workPerByte times the answers to texts of lengths that any design handles quickly.
// workOfLongest times the answers to the longest texts.
func (t trial) workPerByte() { t.climb(t.longest()>>12, t.longest()/4, minCompared) }

func (t trial) workOfLongest() {
	from := t.longest() >> 12
	if t.Design.Worker != nil {
		from = t.longest() / 4 // workPerByte has timed shorter texts
	}
	t.climb(from, t.longest(), farEnough)
}

// clocked is Base for attacks that measure work.
func (t trial) clocked() (*attack.Instance, *attack.Token, bool) {
	in, tok, ok := t.Base()
	if ok && t.Budget.Stopwatch == nil {
		t.Skip("no clock was given")
		return nil, nil, false
	}
	return in, tok, ok
}

// climb presents texts of each kind at lengths between from and to, and times the answers. It
// leaves a kind once one text takes longer than enough.
func (t trial) climb(from, to int, enough time.Duration) {
	in, tok, ok := t.clocked()
	if !ok {
		return
	}
	defer t.elsewhere()()
	c := &climber{t: t, in: in, token: tok, enough: enough, lengths: lengthsUp(from, to)}
	lowest := to
	for _, b := range bombKinds(tok, t.PrefixOf(tok)) {
		reached := c.up(b)
		if t.Broken() || t.Fell(codecs.Total) {
			t.Note("until %s", b.name)
			return
		}
		lowest = min(lowest, reached)
	}
	t.Note("every text up to %s of %s", formatSize(lowest), formatSize(to))
}

// A climber presents texts of one kind at growing lengths.
type climber struct {
	t       trial
	in      *attack.Instance
	token   *attack.Token
	enough  time.Duration
	lengths []int
}

// up climbs with one kind of text and returns the greatest length that was judged. If a worker
// cannot read a text at all, the climb of every kind ends below that length.
func (c *climber) up(b bomb) (reached int) {
	var quarter time.Duration // the time for a quarter of the current length
	for i, n := range c.lengths {
		said := len(c.t.Design.Breaches())
		call, took := c.takes(b, n, 1)
		if call.Answer.Outcome == verdict.Fault {
			if c.unread(call, n, said) {
				c.lengths = c.lengths[:i]
			}
			return reached
		}
		reached = n
		c.t.Try(codecs.Total)
		if took > minCompared && i == 0 {
			_, quarter = c.takes(b, n/4, 1)
		}
		if took > minCompared && took > maxLinearFactor*quarter && c.outgrows(b, n, took) || took > c.enough {
			return reached
		}
		quarter = took
	}
	return reached
}

// outgrows reports and records whether a text of n bytes takes much longer than shorter texts
// of the same total length.
func (c *climber) outgrows(b bomb, n int, first time.Duration) bool {
	_, short := c.takes(b, n/partCount, partCount)
	if first <= maxGrowth*short {
		return false
	}
	whole, parts := []time.Duration{first}, []time.Duration{short}
	var call verdict.Call
	for range timingRepeats {
		var took time.Duration
		call, took = c.takes(b, n, 1)
		whole = append(whole, took)
		_, took = c.takes(b, n/partCount, partCount)
		parts = append(parts, took)
	}
	long, short := median(whole), median(parts)
	if long <= maxGrowth*short || long <= minCompared {
		return false
	}
	c.t.Refute(codecs.Total, fmt.Sprintf("%s of %s take %s, and %d texts of a %dth of that %s together", formatSize(n), b.name, long, partCount, partCount, short), call)
	return true
}

const (
	timedRefusals = 100  // number of refusals timed together
	moreRefusals  = 500  // number of refusals between two timings
	manyRefusals  = 4000 // the most refusals before the last timing
	refusedState  = 1500 // letters in the state of the altered tokens

	longestSeries = 10 * time.Second // of refusals of a slow design
)

// The shortest times that are compared: by the stopwatch, and by the processor time of a
// process, which systems count in hundredths of a second.
const (
	leastWatched = 100 * time.Microsecond
	leastCounted = 10 * time.Millisecond
)

// workBehindMany times refusals before many others and after them.
func (t trial) workBehindMany() {
	in, base, ok := t.clocked()
	if !ok {
		return
	}
	tok, ok := in.Mint(t.State(refusedState), base.Under)
	if !ok {
		t.Skip("the design takes no state of %d bytes", refusedState)
		return
	}
	defer t.elsewhere()()
	var call verdict.Call
	refuse := func(n int) time.Duration {
		texts := make([][]byte, n)
		for i := range texts {
			texts[i] = bytes.Clone(tok.Text)
			for range 16 {
				texts[i][len(tok.Text)/2+t.IntN(len(tok.Text)/2)] = "234567"[t.IntN(6)] // in every text encoding
			}
		}
		return t.works(func() {
			for _, text := range texts {
				call = in.Ask(text, tok.Under)
			}
		})
	}
	least := leastWatched
	if t.Design.Work != nil {
		least = leastCounted
	}
	timed := func() time.Duration { return max(least, min(refuse(timedRefusals), refuse(timedRefusals))) }
	began := t.Budget.Stopwatch()
	first := timed()
	each := (t.Budget.Stopwatch() - began) / (2 * timedRefusals) // also of a design that waits without work
	t.Try(codecs.Total)
	var second time.Duration
	many := 0
	for ; many < manyRefusals && second <= maxGrowth*first && each*time.Duration(many) < longestSeries; many += moreRefusals {
		refuse(moreRefusals)
		if second = timed(); t.Spent() {
			return
		}
	}
	if second <= maxGrowth*first {
		return
	}
	refuse(many)
	if third := timed(); third > second+second/3 {
		t.Refute(codecs.Total, fmt.Sprintf("%d refusals take %s, behind %d others %s, and behind twice as many %s", timedRefusals, first, many, second, third), call)
	}
}

// takes returns the time that the design takes to answer a text of n bytes the given number of
// times.
func (c *climber) takes(b bomb, n, times int) (call verdict.Call, took time.Duration) {
	text := []byte(b.text(n))
	took = c.t.works(func() {
		for range times {
			call = c.in.Ask(text, c.token.Under)
		}
	})
	return call, took
}

// unread reports whether the climb ends at a text of n bytes at which a worker broke. If the
// worker breaks at an honest state of that length too, it does not read such long lines, which
// a server would bound. Otherwise the fault is recorded if it occurs again. said is the number
// of earlier breaches.
func (c *climber) unread(broke verdict.Call, n, said int) bool {
	if d := c.t.Design; d.Worker != nil && n > longLine {
		state := fmt.Appendf(nil, `{"step":"%s"}`, bytes.Repeat([]byte("a"), n/2))
		if c.in.SealQuietly(state, c.token.Under).Answer.Outcome == verdict.Fault {
			d.Excuse(said)
			return true
		}
		late := d.Suspect(said)
		if broke = c.in.Ask(broke.Token, c.token.Under); broke.Answer.Outcome != verdict.Fault || late && c.slow(broke.Token) {
			d.Excuse(said)
			return true
		}
	}
	c.in.Settle(broke, said, func() verdict.Answer { return c.in.Ask(broke.Token, c.token.Under).Answer })
	return !c.t.Faulty()
}

// workerDeadline is the least time that a worker has for an answer.
const workerDeadline = 5 * time.Second

// slow reports whether the parts of a text take so long that a worker may miss the deadline for
// the whole even if its work is linear.
func (c *climber) slow(text []byte) bool {
	part := text[:len(text)/partCount]
	return c.t.works(func() {
		for range partCount {
			c.in.Ask(part, c.token.Under)
		}
	}) > workerDeadline/maxGrowth
}

// longLine is the length in bytes of a line that every worker has to read.
const longLine = 1 << 16

// formatSize formats n bytes in the largest binary unit that divides n.
func formatSize(n int) string {
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

// works returns the time that the design works while do runs. This is the processor time of its
// processes if the system reports it, else the time of the stopwatch.
func (t trial) works(do func()) time.Duration {
	now := t.Budget.Stopwatch
	if t.Design.Work != nil {
		if _, err := t.Design.Work(); err == nil {
			now = func() time.Duration { spent, _ := t.Design.Work(); return spent }
		}
	}
	before := now()
	do()
	return max(0, now()-before) // a restarted process counts from zero
}

// The bounds beyond which a measurement is meaningless: the time that passed, and its ratio to
// the time that the processes of the design worked.
const (
	unexplainedTime = 2 * time.Second
	idleFactor      = 50
)

// elsewhere starts a measurement and returns the function that ends it. That function doubts
// the outcome if the processes of the design were idle for nearly all of the time.
func (t trial) elsewhere() func() {
	if t.Design.Work == nil {
		return func() {}
	}
	began := t.Budget.Stopwatch()
	before, err := t.Design.Work()
	return func() {
		after, failed := t.Design.Work()
		passed, worked := t.Budget.Stopwatch()-began, after-before
		if err == nil && failed == nil && worked >= 0 && passed > unexplainedTime && passed > idleFactor*worked {
			t.Doubt("%s passed, and the processes of the design worked %s: their work is done elsewhere, or the machine is busy", passed, worked)
		}
	}
}
