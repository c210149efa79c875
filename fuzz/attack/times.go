package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"sealab/codecs"
	"sealab/internal/verdict"
)

var timely = []codecs.Property{codecs.Expiry}

// onTime are the attacks on how long a token is good.
var onTime = []Refuter{
	{ID: "EXP-01", Name: "after expiry", Refutes: timely, Layer: LayerContext,
		Gain: "a token for longer than the server meant", Origin: "milliseconds read as seconds; Fernet specification, invalid vectors", Run: afterExpiry},
	{ID: "EXP-06", Name: "times to live of zero, less, and very long", Refutes: timely, Layer: LayerContext,
		Gain: "a token for ever", Origin: "zero taken for no limit", Run: oddLifetimes},
	{ID: "EXP-03", Name: "issued in the future", Refutes: timely, Layer: LayerContext,
		Gain: "tokens made in store", Origin: "Fernet specification, invalid vectors: far-future time", Run: fromTheFuture},
	{ID: "EXP-02", Name: "other values of the expiry, authenticated", Refutes: []codecs.Property{codecs.Expiry, codecs.Total}, Layer: LayerReseal,
		Gain: "a token for ever, or a server that dies", Origin: "numbers over 2^53, texts and null in the place of a date", Run: oddExpiries},
	{ID: "EXP-04", Name: "no expiry, authenticated", Refutes: timely, Layer: LayerReseal,
		Gain: "a token for ever", Origin: "RFC 8725; a check that is made only when the member is there", Run: noExpiry},
	{ID: "EXP-07", Name: "expiry of long states, of fewer claims, and where a count of seconds turns", Refutes: timely, Layer: LayerContext,
		Gain: "a token for ever", Origin: "times that are compared as texts; an expiry that one branch leaves out", Run: otherLives},
	{ID: "EXP-05", Name: "a token presented twice", Refutes: []codecs.Property{codecs.SingleUse}, Layer: LayerContext,
		Gain: "a step taken twice", Origin: "MCP 2026-07-28, basic/patterns/mrtr: single use is for the server to enforce", Run: presentedTwice},
}

// timed is scheme for attacks that set the clock.
func (t *Trial) timed() (*Party, *Token, bool) {
	p, tok, ok := t.scheme()
	if ok && t.Subject.OwnClock && !t.timeCounts(p, tok) {
		t.skip("the subject does not say that it takes the time from its arguments, and no time that was tried matters to it")
		return nil, nil, false
	}
	return p, tok, ok
}

// timeCounts reports whether any time at all makes the subject refuse tok.
func (t *Trial) timeCounts(p *Party, tok *Token) bool {
	for _, d := range []time.Duration{-200 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		if _, ok := p.accepts(tok.Text, later(tok.Under, d)); !ok {
			return true
		}
	}
	return false
}

func later(c verdict.Context, d time.Duration) verdict.Context {
	return with(c, func(c *verdict.Context) { c.Now = c.Now.Add(d) })
}

// grace is how long after its time a token may live by the rounding of seconds.
const grace = 2 * time.Second

func afterExpiry(t *Trial) {
	_, base, ok := t.timed()
	if !ok {
		return
	}
	lives := []*time.Duration{nil}
	for _, ttl := range []time.Duration{time.Second, time.Minute, 10 * time.Minute, 90 * time.Minute, 48 * time.Hour} {
		lives = append(lives, &ttl)
	}
	for _, ttl := range lives {
		p, err := t.partyFor(ttl, t.secret(0))
		if err != nil {
			continue
		}
		for _, fraction := range []time.Duration{0, 499 * time.Millisecond, 999 * time.Millisecond} {
			tok, ok := p.mint(t.state(8), later(base.Under, fraction))
			if !ok {
				continue
			}
			t.outlives(p, tok, ttl)
		}
	}
	if t.trials[codecs.Expiry] == 0 {
		t.skip("the subject takes no time to live that was tried")
	}
}

// outlives presents tok after its time.
func (t *Trial) outlives(p *Party, tok *Token, ttl *time.Duration) {
	after := []time.Duration{400 * 24 * time.Hour, 20 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour, 1<<32*time.Second + time.Minute}
	if ttl != nil {
		for _, d := range []time.Duration{grace, *ttl / 4, *ttl, 59 * *ttl, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour} {
			after = append(after, *ttl+max(d, grace))
		}
	}
	for _, d := range after {
		t.try(codecs.Expiry)
		if call, ok := p.accepts(tok.Text, later(tok.Under, d)); ok {
			life := "the design's own"
			if ttl != nil {
				life = ttl.String()
			}
			t.refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s is accepted %s after it was minted", life, d), tok.Sealed, call)
		}
	}
}

// turns are the moments at which a count of seconds gains a digit or a sign.
var turns = []time.Time{time.Unix(1_000_000_000, 0).UTC(), time.Unix(1<<31, 0).UTC()}

// otherLives presents tokens after their time that are not as the ordinary one.
func otherLives(t *Trial) {
	p, base, ok := t.timed()
	if !ok {
		return
	}
	others := poorer(base.Under)
	for _, turn := range turns {
		for _, before := range []time.Duration{20 * time.Minute, 2 * time.Hour} {
			others = append(others, with(base.Under, func(c *verdict.Context) { c.Now = turn.Add(-before) }))
		}
	}
	for _, c := range others {
		if tok, ok := p.mint(t.state(8), c); ok {
			t.outlives(p, tok, nil)
		}
	}
	for _, n := range []int{0, 1 << 10, 1 << 13} {
		if tok, ok := p.mint(t.state(n), base.Under); ok {
			t.outlives(p, tok, nil)
		}
	}
	if tok, ok := p.mint(nil, base.Under); ok {
		t.outlives(p, tok, nil)
	}
	t.keptAlive(base.Under)
}

// keptAlive presents a token once within its time and once after it: use may not
// make it live longer.
func (t *Trial) keptAlive(c verdict.Context) {
	ttl := 10 * time.Minute
	p, err := t.partyFor(&ttl, t.secret(0))
	if err != nil {
		return
	}
	sealed := p.seal(t.state(8), c)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	used, _ := p.accepts(sealed.Answer.Out, later(c, 3*ttl/4))
	t.try(codecs.Expiry)
	if call, ok := p.accepts(sealed.Answer.Out, later(c, 3*ttl/2)); ok {
		t.refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s that was used within it is accepted %s after it was minted", ttl, 3*ttl/2), sealed, used, call)
	}
}

func oddLifetimes(t *Trial) {
	_, base, ok := t.timed()
	if !ok {
		return
	}
	for _, ttl := range []time.Duration{0, -time.Second, -time.Hour, time.Nanosecond, time.Millisecond, 999 * time.Millisecond, 250 * 365 * 24 * time.Hour} {
		p, err := t.partyFor(&ttl, t.secret(0))
		t.try(codecs.Expiry)
		if err != nil {
			continue // refused at construction
		}
		sealed := p.seal(t.state(8), base.Under)
		if sealed.Answer.Outcome != verdict.Done || ttl > time.Hour {
			continue
		}
		for _, d := range []time.Duration{max(ttl, 0) + grace, time.Hour, 30 * 24 * time.Hour} {
			if call, ok := p.accepts(sealed.Answer.Out, later(base.Under, d)); ok {
				t.refute(codecs.Expiry, fmt.Sprintf("with a time to live of %s a token is accepted %s after it was minted", ttl, d), sealed, call)
			}
		}
	}
}

// fromTheFuture presents a token before it was minted. A format that carries no
// time of issue has nothing to compare and, though it does not keep the promise to
// the letter, does what a format with an expiry alone can. So a design that states
// expiry is accused only where its tokens show a time of issue, by what stands in
// them or, when they are unreadable, by their length. An unreadable token with a
// time of fixed width shows neither: what is then accepted stays unsaid.
func fromTheFuture(t *Trial) {
	p, tok, ok := t.timed()
	if !ok {
		return
	}
	record := t.observe
	if t.carriesIssue(tok) || !t.readable(tok) && t.lengthensWithIssue(p, tok) {
		record = t.refute
	}
	for _, d := range []time.Duration{400 * 24 * time.Hour, 24 * time.Hour} {
		t.try(codecs.Expiry)
		if call, ok := p.accepts(tok.Text, later(tok.Under, -d)); ok {
			record(codecs.Expiry, fmt.Sprintf("a token is accepted %s before it was minted", d), tok.Sealed, call)
		}
	}
	// A skew of an hour may be one that the design states.
	for _, d := range []time.Duration{time.Hour, 10 * time.Minute} {
		if call, ok := p.accepts(tok.Text, later(tok.Under, -d)); ok {
			t.observe(codecs.Expiry, fmt.Sprintf("a token is accepted %s before it was minted", d), tok.Sealed, call)
		}
	}
}

// longer are the moments at which a count of seconds, or of milliseconds, takes
// more room: in digits, and in CBOR and MessagePack.
var longer = []time.Time{time.Unix(1_000_000_000, 0).UTC(), time.Unix(1<<32, 0).UTC()}

// lengthensWithIssue reports whether tokens grow longer when the second of their
// issue takes more room, while that of their expiry took it already. States of
// each length up to a block's are sealed, so that padding does not hide it.
func (t *Trial) lengthensWithIssue(p *Party, tok *Token) bool {
	const block = 16
	total := func(now time.Time) (sum int) {
		for n := range block {
			sealed := p.seal(t.state(n+1), with(tok.Under, func(c *verdict.Context) { c.Now = now }))
			if sealed.Answer.Outcome == verdict.Done {
				sum += len(sealed.Answer.Out)
			}
		}
		return sum
	}
	for _, turn := range longer {
		before, after := total(turn.Add(-2*time.Second)), total(turn.Add(2*time.Second))
		steady := before == total(turn.Add(-2*time.Second)) && after == total(turn.Add(2*time.Second))
		if steady && before > 0 && after > before {
			return true
		}
	}
	return false
}

// carriesIssue reports whether the second in which tok was minted stands in it.
func (t *Trial) carriesIssue(tok *Token) bool {
	now := tok.Under.Now.Unix()
	forms := [][]byte{
		[]byte(strconv.FormatInt(now, 10)), []byte(strconv.FormatInt(now, 16)), []byte(tok.Under.Now.Format("2006-01-02T15:04:05")),
		binary.BigEndian.AppendUint32(nil, uint32(now)), binary.LittleEndian.AppendUint32(nil, uint32(now)),
		binary.BigEndian.AppendUint64(nil, uint64(now)*1000)[:7], binary.LittleEndian.AppendUint64(nil, uint64(tok.Under.Now.UnixMilli()))[:7],
	}
	for _, v := range values(tok.Text) {
		for _, form := range forms {
			if bytes.Contains(v, form) {
				return true
			}
		}
	}
	return false
}
