package attacks

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

var expiryProperties = []codecs.Property{codecs.Expiry}

// expiryAttacks are the attacks on the lifetime of a token.
var expiryAttacks = []attack.Attack{
	{ID: "EXP-01", Name: "a token presented after its expiry", Refutes: expiryProperties, Layer: attack.LayerContext, CWE: 613,
		Gain: "a token that is valid for longer than the server intended", Origin: "milliseconds read as seconds; Fernet specification, invalid vectors", Run: onTimed(trial.afterExpiry), Hundreds: 3},
	{ID: "EXP-06", Name: "zero, negative and very long lifetimes", Refutes: expiryProperties, Layer: attack.LayerContext, CWE: 613,
		Gain: "a token that never expires", Origin: "zero taken for no limit", Run: onTimed(trial.oddLifetimes)},
	{ID: "EXP-03", Name: "a token issued in the future", Refutes: expiryProperties, Layer: attack.LayerContext, CWE: 613,
		Gain: "tokens that are minted in advance and used later", Origin: "Fernet specification, invalid vectors: far-future time", Run: onTimed(trial.fromTheFuture), Hundreds: 2},
	{ID: "EXP-02", Name: "other types and values of the expiry, authenticated", Refutes: []codecs.Property{codecs.Expiry, codecs.Total}, Layer: attack.LayerReseal, CWE: 1287,
		Gain: "a token that never expires, or a crash of the server", Origin: "numbers over 2^53, texts and null in the place of a date", Run: onTrial(trial.oddExpiries)},
	{ID: "EXP-04", Name: "a missing expiry, authenticated", Refutes: expiryProperties, Layer: attack.LayerReseal, CWE: 613,
		Gain: "a token that never expires", Origin: "RFC 8725; a check that is made only if the member is there", Run: onTrial(trial.noExpiry)},
	{ID: "EXP-07", Name: "the expiry of unusual tokens, and at turns of clocks", Refutes: expiryProperties, Layer: attack.LayerContext, CWE: 613,
		Gain: "a token that never expires", Origin: "times that are compared as texts; an expiry that one branch leaves out", Run: onTimed(trial.otherLives), Hundreds: 8},
	{ID: "EXP-08", Name: "a token presented within two seconds after its expiry", Refutes: expiryProperties, Layer: attack.LayerContext, CWE: 613,
		Gain: "up to two seconds more than the stated lifetime", Minor: true, Run: onTimed(trial.boundary),
		Origin: "RFC 7519, section 4.1.4: refused on or after the expiry; times rounded to seconds, and libraries that disagree about the boundary"},
	{ID: "EXP-05", Name: "a token presented twice", Refutes: []codecs.Property{codecs.SingleUse}, Layer: attack.LayerContext, CWE: 294,
		Gain: "one step of a flow carried out twice", Origin: "MCP 2026-07-28, basic/patterns/mrtr: single use is for the server to enforce", Run: onScheme(trial.presentedTwice), First: true},
}

// timed is Scheme for attacks that set the time.
func (t trial) timed() (*attack.Instance, *attack.Token, bool) {
	in, tok, ok := t.Scheme()
	if ok && t.Design.OwnClock && !t.timeCounts(in, tok) {
		t.Skip("the design does not state that it takes the time from its arguments, and no time that was tried matters to it")
		return nil, nil, false
	}
	return in, tok, ok
}

// timeCounts reports whether the design refuses tok at some time.
func (t trial) timeCounts(in *attack.Instance, tok *attack.Token) bool {
	for _, d := range []time.Duration{-50 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		if _, ok := in.Accepts(tok.Text, attack.Later(tok.Under, d)); !ok {
			return true
		}
	}
	return false
}

// roundingGrace is the time after expiry that the rounding of seconds can explain.
const roundingGrace = 2 * time.Second

func (t trial) afterExpiry(_ *attack.Instance, base *attack.Token) {
	lives := []*time.Duration{nil}
	for _, ttl := range []time.Duration{time.Second, time.Minute, 10 * time.Minute, 90 * time.Minute, 48 * time.Hour, 30 * 24 * time.Hour, 60 * 24 * time.Hour} {
		lives = append(lives, &ttl)
	}
	for _, ttl := range lives {
		in, err := t.OpenFor(ttl, t.Secret(0))
		if err != nil {
			continue
		}
		for _, fraction := range []time.Duration{0, 499 * time.Millisecond, 999 * time.Millisecond} {
			tok, ok := in.Mint(t.State(8), attack.Later(base.Under, fraction))
			if !ok {
				continue
			}
			t.outlives(in, tok, ttl)
		}
	}
	if t.Tried(codecs.Expiry) == 0 {
		t.Skip("the design takes no time to live that was tried")
	}
}

// shortLife is the time to live of tokens with a rare property.
const shortLife = 10 * time.Minute

// outlives presents tok after its expiry.
func (t trial) outlives(in *attack.Instance, tok *attack.Token, ttl *time.Duration) {
	after := []time.Duration{400 * 24 * time.Hour, 20 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour, 1<<32*time.Second + time.Minute}
	life := "the design's own"
	if ttl != nil {
		life = ttl.String()
		for _, d := range []time.Duration{roundingGrace, *ttl / 4, *ttl, 59 * *ttl, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour} {
			after = append(after, *ttl+max(d, roundingGrace))
		}
	}
	for _, d := range after {
		t.Refuses(codecs.Expiry, in, tok.Sealed, attack.Later(tok.Under, d), "a token with a time to live of %s is accepted %s after it was minted", life, d)
	}
}

// boundary presents tokens at their expiry and up to two seconds after it. An acceptance that
// the rounding of seconds explains is an observation.
func (t trial) boundary(_ *attack.Instance, base *attack.Token) {
	for _, ttl := range []time.Duration{10 * time.Minute, time.Hour} {
		in, tok, ok := t.MintFor(ttl, base.Under)
		if !ok {
			continue
		}
		for _, d := range []time.Duration{0, time.Millisecond, 500 * time.Millisecond, time.Second, 1900 * time.Millisecond} {
			t.Try(codecs.Expiry)
			if call, ok := in.Accepts(tok.Text, attack.Later(tok.Under, ttl+d)); ok {
				t.Observe(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s is accepted %s after it was minted", ttl, ttl+d), tok.Sealed, call)
				t.Note("a token with a time to live of %s is accepted %s after it was minted, which the rounding of seconds explains", ttl, ttl+d)
			}
		}
	}
	t.atExpiry(base.Under)
	t.roundedUp(base.Under)
	t.afterRefusal(base.Under)
	if t.Tried(codecs.Expiry) == 0 {
		t.Skip("the design takes no time to live that was tried")
	}
}

// atExpiry presents a token exactly at its expiry. All times are whole minutes, so rounding
// does not explain acceptance. A leeway does, and is not a fault.
func (t trial) atExpiry(c codecs.Context) {
	c = attack.With(c, func(c *codecs.Context) { c.Now = c.Now.Truncate(time.Minute) })
	for _, ttl := range []time.Duration{10 * time.Minute, time.Hour} {
		in, tok, ok := t.MintFor(ttl, c)
		if !ok {
			continue
		}
		t.Try(codecs.Expiry)
		call, at := in.Accepts(tok.Text, attack.Later(c, ttl))
		if _, later := in.Accepts(tok.Text, attack.Later(c, ttl+time.Second)); at && !later {
			t.Refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s is accepted in the second of its expiry, on or after which RFC 7519 "+
				"refuses it; libraries differ here, and no later second is accepted", ttl), tok.Sealed, call)
		}
	}
}

// roundedUp presents a token with a fractional expiry between that expiry and the next whole
// second. A leeway would last longer.
func (t trial) roundedUp(c codecs.Context) {
	c = attack.With(c, func(c *codecs.Context) { c.Now = c.Now.Truncate(time.Minute).Add(time.Millisecond) })
	in, tok, ok := t.MintFor(shortLife, c)
	if !ok {
		return
	}
	t.Try(codecs.Expiry)
	const late = 900 * time.Millisecond
	call, accepted := in.Accepts(tok.Text, attack.Later(c, shortLife+late))
	if _, later := in.Accepts(tok.Text, attack.Later(c, shortLife+time.Second)); accepted && !later {
		t.Refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s is accepted %s after its expiry, which is rounded up to a whole second", shortLife, late), tok.Sealed, call)
	}
}

// afterRefusal presents a token at rising times after its expiry. Neither rounding nor leeway
// explains an acceptance after a refusal.
func (t trial) afterRefusal(c codecs.Context) {
	for _, fraction := range []time.Duration{0, 250 * time.Millisecond, 999 * time.Millisecond} {
		c := attack.With(c, func(c *codecs.Context) { c.Now = c.Now.Truncate(time.Minute).Add(fraction) })
		in, tok, ok := t.MintFor(shortLife, c)
		if !ok {
			continue
		}
		refused := time.Duration(-1)
		for _, d := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 750 * time.Millisecond, time.Second, 1500 * time.Millisecond} {
			t.Try(codecs.Expiry)
			call, ok := in.Accepts(tok.Text, attack.Later(c, shortLife+d))
			switch {
			case !ok && refused < 0:
				refused = d
			case ok && refused >= 0:
				t.Refute(codecs.Expiry, fmt.Sprintf("a token is refused %s after its end and accepted %s after it", refused, d), tok.Sealed, call)
			}
		}
	}
}

// oddLifetimes opens the ring with odd lifetimes. Many libraries read zero as a default of minutes or days. So a
// token under a lifetime of zero is presented only after 30 days.
func (t trial) oddLifetimes(_ *attack.Instance, base *attack.Token) {
	for _, ttl := range []time.Duration{0, -time.Second, -time.Hour, time.Nanosecond, time.Millisecond, 999 * time.Millisecond, 250 * 365 * 24 * time.Hour} {
		in, err := t.OpenFor(&ttl, t.Secret(0))
		t.Try(codecs.Expiry)
		if err != nil {
			continue // refused at construction
		}
		sealed := in.Seal(t.State(8), base.Under)
		if sealed.Answer.Outcome != verdict.Done || ttl > time.Hour {
			continue
		}
		ages := []time.Duration{max(ttl, 0) + roundingGrace, time.Hour, 30 * 24 * time.Hour}
		if ttl/time.Microsecond == 0 { // a worker is sent microseconds
			ages = ages[2:]
		}
		for _, d := range ages {
			if call, ok := in.Accepts(sealed.Answer.Out, attack.Later(base.Under, d)); ok {
				t.Refute(codecs.Expiry, fmt.Sprintf("with a time to live of %s a token is accepted %s after it was minted", ttl, d), sealed, call)
			}
		}
	}
}

// fromTheFuture presents a token before it was minted. A format that holds only an expiry
// cannot refuse it, and may still be sound. So a design that claims expiry is accused only if
// its tokens show a time of issue: by their content, by their length if they are unreadable, or
// by a refusal at a later time. If an unreadable token has a time of fixed width, acceptance at
// every time is not reported.
func (t trial) fromTheFuture(in *attack.Instance, tok *attack.Token) {
	record := t.Observe
	if t.carriesIssue(tok) || !t.Readable(tok) && t.lengthensWithIssue(in, tok) {
		record = t.Refute
	}
	// A design may state a skew of an hour.
	refused := time.Duration(0)
	var ahead *verdict.Call
	for _, d := range []time.Duration{10 * time.Minute, time.Hour} {
		if call, ok := in.Accepts(tok.Text, attack.Later(tok.Under, -d)); ok {
			t.Observe(codecs.Expiry, fmt.Sprintf("a token is accepted %s before it was minted", d), tok.Sealed, call)
		} else {
			refused = d
		}
	}
	var by time.Duration
	for _, d := range []time.Duration{12 * time.Hour, 24 * time.Hour, 400 * 24 * time.Hour} {
		t.Try(codecs.Expiry)
		switch call, ok := in.Accepts(tok.Text, attack.Later(tok.Under, -d)); {
		case !ok && ahead != nil && t.livesLong(tok): // the time of issue was read
			t.Refute(codecs.Expiry, fmt.Sprintf("a token is accepted %s before it was minted, and refused earlier: its time of issue is read, and may be so far ahead", by), tok.Sealed, *ahead)
		case !ok:
			refused = d
		case refused > 0: // the time of issue was read
			t.Refute(codecs.Expiry, fmt.Sprintf("a token is refused %s before it was minted, and accepted %s before", refused, d), tok.Sealed, call)
		default:
			record(codecs.Expiry, fmt.Sprintf("a token is accepted %s before it was minted", d), tok.Sealed, call)
			ahead, by = &call, d
		}
	}
	if refused > 0 {
		t.atUnsetClocks(in, tok)
	}
	t.aheadByItsLife(tok.Under)
	t.atZero(in, tok.Under)
}

// unsetClocks are years at which clocks start that are not set, or from which they count, and years
// before them.
var unsetClocks = []int{2020, 2016, 2010, 2001, 2000, 1990, 1980, 1971, 1969, 1904, 1900}

// atUnsetClocks presents tok, which is refused before it was minted, at times of clocks that are not
// set. A fault there does not count against the design.
func (t trial) atUnsetClocks(in *attack.Instance, tok *attack.Token) {
	for _, year := range unsetClocks {
		early := attack.With(tok.Under, func(c *codecs.Context) { c.Now = time.Date(year, 1, 1, 0, 1, 0, 0, time.UTC) })
		t.Try(codecs.Expiry)
		if call, ok := in.AcceptsQuietly(tok.Text, early); ok {
			t.Refute(codecs.Expiry, fmt.Sprintf("a token is refused before it was minted, and accepted in the year %d", year), tok.Sealed, call)
		}
	}
}

// atZero presents a token at the Unix time 0, which a reader may take for an absent time. If it
// refuses the token a day later, it reads the time of issue.
func (t trial) atZero(in *attack.Instance, c codecs.Context) {
	tok, ok := in.Mint(t.State(8), c)
	if !ok {
		return
	}
	zero := attack.With(c, func(c *codecs.Context) { c.Now = time.Unix(0, 0).UTC() })
	t.Try(codecs.Expiry)
	call, accepted := in.Accepts(tok.Text, zero)
	if _, later := in.Accepts(tok.Text, attack.Later(zero, 24*time.Hour)); accepted && !later {
		t.Refute(codecs.Expiry, "a token is accepted at the Unix time 0, long before it was minted, and refused a day later", tok.Sealed, call)
	}
}

// aheadByItsLife presents a token with a long time to live a day before it was minted. A design
// that compares only the distance between the two times accepts it. If it refuses the token
// earlier, it reads the time of issue.
func (t trial) aheadByItsLife(c codecs.Context) {
	const life = 30 * 24 * time.Hour
	in, tok, ok := t.MintFor(life, c)
	if !ok {
		return
	}
	t.Try(codecs.Expiry)
	call, early := in.Accepts(tok.Text, attack.Later(c, -24*time.Hour))
	if _, far := in.Accepts(tok.Text, attack.Later(c, -400*24*time.Hour)); early && !far && t.livesLong(tok) {
		t.Refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s is accepted a day before it was minted, and refused earlier: its time "+
			"of issue is read, and may be a day ahead", life), tok.Sealed, call)
	}
}

// livesLong reports whether a token may live 420 days. If so, a limit on the remaining lifetime
// cannot be why tok is refused 400 days before it was minted.
func (t trial) livesLong(tok *attack.Token) bool {
	in, long, ok := t.MintFor(450*24*time.Hour, tok.Under)
	if !ok {
		return false
	}
	_, ok = in.Accepts(long.Text, attack.Later(tok.Under, 420*24*time.Hour))
	return ok
}

// lengthChangeTimes are the moments at which a count of seconds or of milliseconds becomes longer:
// in decimal digits, and in CBOR and MessagePack.
var lengthChangeTimes = []time.Time{time.Unix(1_000_000_000, 0).UTC(), time.Unix(1<<32, 0).UTC()}

// lengthensWithIssue reports whether tokens grow when the second of issue needs more room,
// while that of expiry needed it before. It seals states of every length up to a block, so that
// padding does not hide the growth.
func (t trial) lengthensWithIssue(in *attack.Instance, tok *attack.Token) bool {
	const block = 16
	total := func(now time.Time) (sum int) {
		for n := range block {
			sealed := in.Seal(t.State(n+1), attack.With(tok.Under, func(c *codecs.Context) { c.Now = now }))
			if sealed.Answer.Outcome == verdict.Done {
				sum += len(sealed.Answer.Out)
			}
		}
		return sum
	}
	for _, turn := range lengthChangeTimes {
		before, after := total(turn.Add(-2*time.Second)), total(turn.Add(2*time.Second))
		steady := before == total(turn.Add(-2*time.Second)) && after == total(turn.Add(2*time.Second))
		if steady && before > 0 && after > before {
			return true
		}
	}
	return false
}

// carriesIssue reports whether the second of issue can be read in tok.
func (t trial) carriesIssue(tok *attack.Token) bool {
	now, seconds := tok.Under.Now.Unix(), float64(tok.Under.Now.UnixMicro())/1e6
	forms := [][]byte{
		[]byte(strconv.FormatInt(now, 10)), []byte(strconv.FormatInt(now, 16)), []byte(tok.Under.Now.Format("2006-01-02T15:04:05")),
		binary.BigEndian.AppendUint32(nil, uint32(now)), binary.LittleEndian.AppendUint32(nil, uint32(now)),
		binary.BigEndian.AppendUint64(nil, uint64(now)*1000)[:7], binary.LittleEndian.AppendUint64(nil, uint64(tok.Under.Now.UnixMilli()))[:7],
		binary.BigEndian.AppendUint64(nil, uint64(tok.Under.Now.UnixMicro())), binary.LittleEndian.AppendUint64(nil, uint64(tok.Under.Now.UnixMicro())),
		binary.BigEndian.AppendUint64(nil, uint64(tok.Under.Now.UnixNano()))[:6], binary.LittleEndian.AppendUint64(nil, uint64(tok.Under.Now.UnixNano()))[2:],
		binary.BigEndian.AppendUint64(nil, math.Float64bits(seconds))[:7], binary.LittleEndian.AppendUint64(nil, math.Float64bits(seconds))[1:],
	}
	for _, v := range tokenfmt.Readings(tok.Text) {
		for _, form := range forms {
			if bytes.Contains(v, form) {
				return true
			}
		}
	}
	return false
}
