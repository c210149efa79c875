package targets

import (
	"fmt"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var contextsTarget = Target{
	Name: "contexts", Layer: layerRelations,
	Doc:   "mints in one situation and verifies in another: the same binding in time is accepted, another that the design binds and a time past expiry are refused",
	Draws: true,
	Check: runContexts,
	Seeds: contextsSeeds,
}

// tokenLifetime is the lifetime of tokens in contexts.
const tokenLifetime = 600 * time.Second

// longestState is the maximum length of states in contexts, which varies other parts.
const longestState = 16

// An expiringScheme is a scheme opened with tokenLifetime. dies reports whether its tokens
// expire.
type expiringScheme struct {
	*instance
	dies bool
}

// expiringSchemes are the schemes under test. A probe decides whether their tokens expire,
// because some disclaim expiry for other reasons.
var expiringSchemes = sync.OnceValue(func() []*expiringScheme {
	var all []*expiringScheme
	for _, d := range testedDesigns() {
		if d.IsScheme() {
			s := mustOpen(d, codecs.Config{Secrets: ringSecrets(d, 0), TTL: new(tokenLifetime)})
			s.dear = s.isCostly()
			m := &expiringScheme{s, s.holds(codecs.Expiry)}
			m.dies = m.dies || m.diesOnceIn(24*time.Hour)
			all = append(all, m)
		}
	}
	return all
})

// diesOnceIn reports whether a token is refused at the given age.
func (s *expiringScheme) diesOnceIn(age time.Duration) bool {
	token, err := s.codec.SealSeeded(nil, make([]byte, s.codec.SeedSize()), []byte(`"state"`))
	if err != nil {
		return false
	}
	late := program.Context
	late.Now = late.Now.Add(age)
	_, refused, err := s.openIn(&late, token)
	return err == nil && refused != nil
}

// openIn is open in a given context.
func (s *expiringScheme) openIn(where *codecs.Context, token []byte) (state []byte, refused *codecs.RejectError, err error) {
	return s.answer(s.in.At(where), token)
}

func runContexts(p *program.Program) error {
	s := chooseFrom(p, expiringSchemes())
	seed, state := s.seed(p), quotedPayload(p.Bytes(longestState))
	made := program.Context
	made.Now = made.Now.Add(mintTimes[p.Pick(len(mintTimes))])
	for range p.Pick(3) {
		made = program.ChangeContext(p, made)
	}
	read, age := made, ageOf(p)
	for range p.Pick(3) {
		read = program.ChangeContext(p, read)
	}
	read.Now = made.Now.Add(age)
	token, err := s.in.SealSeeded(nil, seed, state, &made)
	if err != nil {
		return err
	}
	return s.requireBound(token, state, &made, &read, age)
}

// mintTimes are the times of minting, relative to program.Context.
var mintTimes = []time.Duration{0, 250 * time.Millisecond, time.Second - 1, 1, 59 * time.Minute, 50 * 365 * 24 * time.Hour}

// borderDistances are distances from a border in time, on either side.
var borderDistances = []time.Duration{0, 1, time.Microsecond, time.Millisecond, 250 * time.Millisecond, time.Second - 1, time.Second,
	2 * time.Second, 10 * time.Second, time.Minute, time.Hour, 24 * time.Hour, 30 * 365 * 24 * time.Hour}

// ageOf reads the age of a token when it is verified: from two minutes before minting to twenty
// minutes after it, in milliseconds, or near the start or end of its life.
func ageOf(p *program.Program) time.Duration {
	seconds, fraction := p.Uint16(), p.Uint16()
	if seconds < 1320 {
		return time.Duration(seconds-120)*time.Second + time.Duration(fraction%1000)*time.Millisecond
	}
	border, tick := tokenLifetime, borderDistances[fraction%len(borderDistances)]
	if seconds%2 == 1 {
		tick = -tick
	}
	if seconds%8 == 7 {
		border = 0
	}
	return border + tick
}

// requireBound returns an error unless a token minted in one context is answered in another as
// the design claims. It requires nothing before minting, nor within a second of expiry if the
// format rounds. If the design claims expiry, a token minted at a full second must expire on
// time.
func (s *expiringScheme) requireBound(token, state []byte, made, read *codecs.Context, age time.Duration) error {
	got, refused, err := s.openIn(read, token)
	if err != nil {
		return err
	}
	first, must := s.mustRefuse(made, read)
	switch {
	case refused == nil && must:
		return harness.Fail(s.Name, "a token is accepted in another context: "+string(first), "for %s, minted for %s", describeContext(read), describeContext(made))
	case refused == nil && age >= s.end(made.Now) && s.dies:
		return harness.Fail(s.Name, "an expired token is accepted", "after %v of %v", age, tokenLifetime)
	case refused == nil && !s.same(state, got):
		return harness.Fail(s.Name, "a token verifies to another state", "minted %q, got %q", state, got)
	case refused != nil && program.Differs(made, read) == program.Nowhere && age >= 0 && age <= tokenLifetime-time.Second:
		return harness.Fail(s.Name, "an own token is refused in time", "%s, %s, after %v, for %s", refused.Stage, refused.Reason, age, describeContext(made))
	}
	return nil
}

// end returns the age from which a token must be refused.
func (s *expiringScheme) end(made time.Time) time.Duration {
	if s.holds(codecs.Expiry) && made.Nanosecond() == 0 {
		return tokenLifetime
	}
	return tokenLifetime + lab.HooksOf(s.Design).Grace + time.Second
}

func describeContext(b *codecs.Context) string {
	text := fmt.Sprintf("%q %q %s", b.Method, b.Target, b.Arguments)
	for _, s := range []*string{b.Principal, b.Audience} {
		if s == nil {
			text += " none"
		} else {
			text += fmt.Sprintf(" %q", *s)
		}
	}
	return text
}

// contextsSeeds returns, for each scheme, a token in its own context, at the borders of its
// life, and with each place changed in several ways.
func contextsSeeds() ([][]byte, error) {
	return withContinuations(seedEach(expiringSchemes(), func(_ *expiringScheme, begin func() *program.Writer) [][]byte {
		minted := func() *program.Writer { return begin().Bytes([]byte("seed")).Bytes([]byte("state")).Byte(0) }
		own := [][]byte{minted().Program()}
		for tick := range borderDistances {
			own = append(own, minted().Byte(0).Uint16(2000).Uint16(tick).Program(), minted().Byte(0).Uint16(2001).Uint16(tick).Program())
		}
		for _, age := range []int{120, 120 + 599, 120 + 602, 0} {
			own = append(own, minted().Byte(0).Uint16(age).Uint16(0).Byte(0).Program())
		}
		for where := range byte(program.Places) {
			for how := range byte(8) {
				own = append(own, minted().Byte(0).Uint16(121).Uint16(500).Byte(1).Byte(where).Byte(how).Bytes([]byte("other")).Program())
				// Minted with that place changed, and verified with it changed again.
				made := minted().Byte(1).Byte(where).Byte(how)
				if how == 0 {
					made.Bytes([]byte("other"))
				}
				own = append(own, made.Uint16(121).Uint16(500).Byte(1).Byte(where).Byte(how+1).Bytes([]byte("third")).Program())
			}
		}
		return own
	})), nil
}
