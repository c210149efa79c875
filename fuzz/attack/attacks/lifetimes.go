package attacks

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// digitChangeTimes are the moments at which a count of seconds or milliseconds gains a digit, a sign
// or a fifth byte. Below a number of digits, a reader may take one unit for the other.
var digitChangeTimes = []time.Time{
	time.Unix(100_000_000, 0).UTC(), time.Unix(1_000_000_000, 0).UTC(), time.Unix(1<<31, 0).UTC(), time.Unix(1<<32, 0).UTC(), time.Unix(10_000_000_000, 0).UTC(),
}

// yearTurns are moments whose year differs from the one that their week belongs to, which formats such as YYYY in
// Java write: in weeks from Monday (ISO 8601), from Sunday, and in both.
var yearTurns = []time.Time{
	time.Date(2024, 12, 30, 12, 0, 0, 0, time.UTC), time.Date(2026, 12, 30, 12, 0, 0, 0, time.UTC), time.Date(2025, 12, 30, 12, 0, 0, 0, time.UTC),
}

// otherLives presents tokens that differ from the ordinary one after their expiry.
func (t trial) otherLives(in *attack.Instance, base *attack.Token) {
	var life *time.Duration
	if short, tok, ok := t.MintFor(shortLife, base.Under); ok {
		in, base, life = short, tok, new(shortLife)
	}
	others := attack.Poorer(base.Under)
	for _, turn := range digitChangeTimes {
		for _, before := range []time.Duration{20 * time.Minute, 2 * time.Hour} {
			others = append(others, attack.With(base.Under, func(c *codecs.Context) { c.Now = turn.Add(-before) }))
		}
	}
	for _, turn := range yearTurns {
		others = append(others, attack.With(base.Under, func(c *codecs.Context) { c.Now = turn }))
	}
	for _, m := range fields.OtherMethods {
		others = append(others, fields.Method.Put(base.Under, m))
	}
	for _, c := range others {
		t.liveElsewhere(in, base, t.State(8), c, life)
	}
	for _, n := range append(attack.RareLengths, 1<<10, 1<<13, attack.LongerState) {
		t.liveElsewhere(in, base, t.State(n), base.Under, life)
	}
	t.liveElsewhere(in, base, nil, base.Under, life)
	t.keptAlive(base.Under)
	t.besideLongLives(base.Under)
	t.otherHolders(base.Under)
	t.turnsOfCounters(base.Under)
	t.clocksPutBack(base.Under)
	t.mintedAtTurns(in, base.Under)
}

// liveElsewhere presents a token of another state or context after its expiry, and before it
// was minted. The latter counts only if the ordinary token is refused then, which shows that
// the time of issue is read.
func (t trial) liveElsewhere(in *attack.Instance, base *attack.Token, state []byte, c codecs.Context, life *time.Duration) {
	tok, ok := in.Mint(state, c)
	if !ok {
		return
	}
	t.outlives(in, tok, life)
	const early = -24 * time.Hour
	if _, read := in.Accepts(base.Text, attack.Later(base.Under, early)); read {
		return
	}
	t.Refuses(codecs.Expiry, in, tok.Sealed, attack.Later(c, early),
		"a token of a state of %d bytes is accepted a day before it was minted in the context %s, an ordinary one is refused", len(state), fields.Describe(c))
}

// otherHolders presents tokens of every key of a ring soon after their expiry.
func (t trial) otherHolders(c codecs.Context) {
	for n := range 3 {
		from, errFrom := t.OpenFor(new(shortLife), t.Secret(n))
		ring, errRing := t.OpenFor(new(shortLife), t.firstSecrets(3)...)
		if errFrom != nil || errRing != nil {
			return
		}
		if sealed := from.Seal(t.State(8), c); sealed.Answer.Outcome == verdict.Done {
			t.outlives(ring, ring.TokenOf(sealed, c), new(shortLife))
		}
	}
}

// turnsOfCounters presents a token at the moments at which counters wrap around, both those of
// the time since issue and those of absolute time.
func (t trial) turnsOfCounters(c codecs.Context) {
	in, tok, ok := t.MintFor(shortLife, c)
	if !ok {
		return
	}
	for bits, units := range map[int][]time.Duration{
		16: {time.Second, time.Minute, time.Hour}, 24: {time.Second, time.Minute}, 31: {time.Millisecond, time.Second}, 32: {time.Microsecond, time.Millisecond, time.Second},
	} {
		for _, unit := range units {
			t.acceptedLate(in, tok, c.Now.Add(1<<bits*unit+time.Minute))
		}
	}
	for _, d := range calendarSteps {
		t.acceptedLate(in, tok, c.Now.AddDate(d.years, d.months, d.days).Add(d.more+time.Minute))
	}
	for _, turn := range []time.Time{time.Unix(1<<31, 0), time.Unix(1<<32, 0), time.Unix(0, 1<<63-1), time.Unix(10_000_000_000, 0)} {
		t.acceptedLate(in, tok, turn.Add(24*time.Hour).UTC())
	}
	// Compared as texts, ten times the time of issue lies between issue and expiry.
	t.acceptedLate(in, tok, time.Unix(10*c.Now.Add(time.Minute).Unix(), 0).UTC())
	t.beyondDates(in, tok)
}

// counterTurns are moments at which a count of seconds, or of smaller units, changes its sign or
// exceeds a type of numbers. The expiry of a token may lie on a turn, and read as absent.
var counterTurns = []time.Time{
	time.Unix(-1<<31, 0).UTC(), time.Unix(0, 0).UTC(), time.UnixMicro(1 << 31).UTC(), time.UnixMilli(1 << 31).UTC(), time.UnixMilli(1 << 32).UTC(), time.Unix(0, 1<<53).UTC(),
	time.Unix(1<<31, 0).UTC(), time.Unix(1<<32, 0).UTC(), time.UnixMicro(1 << 53).UTC(), time.Unix(0, 1<<63-1).UTC(),
}

// mintedAtTurns mints tokens around turns of counters, some before 1970, and presents them after
// their expiry. A design may refuse such times. A fault does not count against it.
func (t trial) mintedAtTurns(in *attack.Instance, under codecs.Context) {
	for _, turn := range counterTurns {
		for _, before := range []time.Duration{24 * time.Hour, 17 * time.Minute, shortLife, shortLife / 2, 0} {
			c := attack.With(under, func(c *codecs.Context) { c.Now = turn.Add(-before) })
			sealed := in.SealQuietly(t.State(8), c)
			if sealed.Answer.Outcome != verdict.Done {
				continue
			}
			for _, d := range []time.Duration{400 * 24 * time.Hour, 60 * 365 * 24 * time.Hour} {
				t.Try(codecs.Expiry)
				if call, ok := in.AcceptsQuietly(sealed.Answer.Out, attack.Later(c, d)); ok {
					t.Refute(codecs.Expiry, fmt.Sprintf("a token that was minted at %s is accepted %s later", c.Now.Format(time.RFC3339), d), sealed, call)
				}
			}
		}
	}
}

// putBack are moments in 2026 at which clocks are put back an hour: in Europe, in the time
// zones of the United States from east to west, and in Sydney (IANA time zone database, 2025b).
var putBack = []time.Time{
	time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC),
	time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 7, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC),
	time.Date(2026, 4, 4, 16, 0, 0, 0, time.UTC),
}

// clocksPutBack presents tokens that expire shortly before clocks are put back. It presents
// them in the following hour, in which local clocks repeat the times at which they were valid.
func (t trial) clocksPutBack(c codecs.Context) {
	for _, turn := range putBack {
		minted := attack.With(c, func(c *codecs.Context) { c.Now = turn.Add(-shortLife - time.Minute) })
		if in, tok, ok := t.MintFor(shortLife, minted); ok {
			t.acceptedLate(in, tok, minted.Now.Add(time.Hour+shortLife/2))
		}
	}
}

// dateLimits are the first moments that types of dates cannot hold: years have four digits, and a
// Date of ECMAScript has a last moment (ECMA-262, section 21.4.1.1). A later Date is NaN, and
// comparisons with it are false.
var dateLimits = []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(8_640_000_000_000, 0).UTC()}

// beyondDates presents tok after the last moment of a type of dates. A fault there does not
// count against the design.
func (t trial) beyondDates(in *attack.Instance, tok *attack.Token) {
	for _, end := range dateLimits {
		t.Try(codecs.Expiry)
		late := attack.With(tok.Under, func(c *codecs.Context) { c.Now = end.Add(time.Minute) })
		if call, ok := in.AcceptsQuietly(tok.Text, late); ok {
			t.Refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s is accepted in the year %d, behind the last date of some types", shortLife, late.Now.Year()), tok.Sealed, call)
		}
	}
}

// A timeStep is a difference of two times.
type timeStep struct {
	years, months, days int
	more                time.Duration
}

// calendarSteps are the steps after which a time looks the same if its larger units, or the leading
// digits of its seconds, are ignored.
var calendarSteps = []timeStep{
	{more: time.Hour}, {more: 12 * time.Hour}, {days: 1}, {days: 7}, {days: 1024 * 7}, {months: 1}, {years: 1}, {years: 5}, {years: 10}, {years: 20}, {years: 30}, {years: 50}, {years: 68}, {years: 100},
	{more: 1e3 * time.Second}, {more: 1e4 * time.Second}, {more: 1e5 * time.Second}, {more: 1e6 * time.Second}, {more: 1e7 * time.Second}, {more: 1e8 * time.Second}, {more: 1e9 * time.Second},
}

// acceptedLate presents tok, which has a short life, at a time after its expiry.
func (t trial) acceptedLate(in *attack.Instance, tok *attack.Token, now time.Time) {
	t.Refuses(codecs.Expiry, in, tok.Sealed, attack.With(tok.Under, func(c *codecs.Context) { c.Now = now }),
		"a token with a time to live of %s that was minted at %s is accepted at %s", shortLife, tok.Under.Now.Format(time.RFC3339), now.Format(time.RFC3339))
}

// keptAlive presents a token before and after its expiry. Use must not extend its life.
func (t trial) keptAlive(c codecs.Context) {
	in, err := t.OpenFor(new(shortLife), t.Secret(0))
	if err != nil {
		return
	}
	sealed := in.Seal(t.State(8), c)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	used, _ := in.Accepts(sealed.Answer.Out, attack.Later(c, 3*shortLife/4))
	t.Try(codecs.Expiry)
	if call, ok := in.Accepts(sealed.Answer.Out, attack.Later(c, 3*shortLife/2)); ok {
		t.Refute(codecs.Expiry, fmt.Sprintf("a token with a time to live of %s that was used within it is accepted %s after it was minted", shortLife, 3*shortLife/2), sealed, used, call)
	}
}

// besideLongLives presents tokens with a short life after their expiry, while handles with a long
// one are open, under the same key and another.
func (t trial) besideLongLives(c codecs.Context) {
	const long = 10 * shortLife
	in, err := t.OpenFor(new(shortLife), t.Secret(0))
	if err != nil {
		return
	}
	before := in.Seal(t.State(8), c)
	for n := range 2 {
		if _, err := t.OpenFor(new(long), t.Secret(n)); err != nil {
			return
		}
		for _, sealed := range []verdict.Call{before, in.Seal(t.State(8), c)} {
			if sealed.Answer.Outcome == verdict.Done {
				t.Refuses(codecs.Expiry, in, sealed, attack.Later(c, 2*shortLife), "a token with a time to live of %s is accepted %s after it was minted if a handle with %s is open", shortLife, 2*shortLife, long)
			}
		}
	}
}
