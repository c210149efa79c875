package targets

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/fuzz/program"
)

var contextsTarget = Target{
	Name: "contexts", Layer: LayerRelations,
	Doc:   "mints in one situation and verifies in another: the same binding in time is accepted, another that the design binds and a time past expiry are refused",
	Draws: true,
	Check: contexts,
	Seeds: contextsSeeds,
}

// life is how long tokens live in contexts.
const life = 600 * time.Second

// longestState keeps states short in contexts, where other parts of a token vary.
const longestState = 16

// A mortal is a scheme whose tokens live that long, or for ever.
type mortal struct {
	*subject
	dies bool
}

// schemes are the schemes of the catalog. Whether their tokens die is seen and
// not believed: some disclaim expiry for what it lacks elsewhere.
var schemes = sync.OnceValue(func() []*mortal {
	ttl := life
	var all []*mortal
	for _, d := range designs() {
		if d.IsScheme() {
			s := mustSubject(d, codecs.Config{Secrets: secrets(d, 0), TTL: &ttl})
			s.dear = s.encapsulates()
			m := &mortal{s, s.holds(codecs.Expiry)}
			m.dies = m.dies || m.diesOnceIn(24*time.Hour)
			all = append(all, m)
		}
	}
	return all
})

// diesOnceIn reports whether a token is refused so long after it was made.
func (s *mortal) diesOnceIn(age time.Duration) bool {
	token, err := s.assembler.SealSeeded(nil, make([]byte, s.assembler.SeedSize()), []byte(`"state"`))
	if err != nil {
		return false
	}
	late := home
	late.Now = late.Now.Add(age)
	_, refused, err := s.openIn(&late, token)
	return err == nil && refused != nil
}

// openIn is open in a situation.
func (s *mortal) openIn(where *situation, token []byte) (state []byte, refused *codecs.RejectError, err error) {
	return s.answer(s.scheme.At(&where.Context), token)
}

func contexts(p *program.Program) error {
	s := choose(p, schemes())
	seed, state := s.seed(p), quoted(p.Bytes(longestState))
	made := home
	made.Now = made.Now.Add(moments[p.Pick(len(moments))])
	for range p.Pick(3) {
		made = made.change(p)
	}
	read, age := made, ageOf(p)
	for range p.Pick(3) {
		read = read.change(p)
	}
	read.Now = made.Now.Add(age)
	token, err := s.scheme.SealSeeded(nil, seed, state, &made.Context)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.requireBound(token, state, &made, &read, age)
}

// moments are when in a second, an hour or a century tokens are made.
var moments = []time.Duration{0, 250 * time.Millisecond, time.Second - 1, 1, 59 * time.Minute, 50 * 365 * 24 * time.Hour}

// steps of time from a border, either way.
var ticks = []time.Duration{0, 1, time.Microsecond, time.Millisecond, 250 * time.Millisecond, time.Second - 1, time.Second,
	2 * time.Second, 10 * time.Second, time.Minute, time.Hour, 24 * time.Hour, 30 * 365 * 24 * time.Hour}

// ageOf reads how old a token is when it is read: from two minutes before it
// was made to twenty after, in milliseconds, or near the border of its life.
func ageOf(p *program.Program) time.Duration {
	seconds, fraction := p.Uint16(), p.Uint16()
	if seconds < 1320 {
		return time.Duration(seconds-120)*time.Second + time.Duration(fraction%1000)*time.Millisecond
	}
	border, tick := life, ticks[fraction%len(ticks)]
	if seconds%2 == 1 {
		tick = -tick
	}
	if seconds%8 == 7 {
		border = 0
	}
	return border + tick
}

// requireBound returns an error unless the token made in one situation is
// answered in another as the design promises. Before the token was made nothing
// is demanded, nor within a second of expiry where formats round: a token that
// was made at a full second dies on time where its design promises expiry.
func (s *mortal) requireBound(token, state []byte, made, read *situation, age time.Duration) error {
	got, refused, err := s.openIn(read, token)
	if err != nil {
		return err
	}
	switch {
	case refused == nil && s.mustRefuse(&made.Context, &read.Context):
		return fmt.Errorf("%s: a token for %s is accepted for %s", s.Name, describe(&made.Context), describe(&read.Context))
	case refused == nil && age >= s.end(made.Now) && s.dies:
		return fmt.Errorf("%s: a token that lives %v is accepted after %v", s.Name, life, age)
	case refused == nil && !s.same(state, got):
		return fmt.Errorf("%s: minted %q and got %q back", s.Name, state, got)
	case refused != nil && differs(&made.Context, &read.Context) == nowhere && age >= 0 && age <= life-time.Second:
		return fmt.Errorf("%s: its own token for %s is refused after %v: %s, %s", s.Name, describe(&made.Context), age, refused.Stage, refused.Reason)
	}
	return nil
}

// end returns the age from which on a token that was made then must be refused.
func (s *mortal) end(made time.Time) time.Duration {
	if s.holds(codecs.Expiry) && made.Nanosecond() == 0 {
		return life
	}
	return life + time.Second
}

func describe(b *codecs.Context) string {
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

// contextsSeeds are, for each scheme, a token in its own situation, at the edges
// of its life, and with each place changed in several ways.
func contextsSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i, s := range schemes() {
		begin := func() *program.Writer {
			var w program.Writer
			return w.Pick(i, len(schemes())).Bytes([]byte("seed")).Bytes([]byte("state")).Byte(0)
		}
		own := [][]byte{begin().Program()}
		for tick := range ticks {
			own = append(own, begin().Byte(0).Uint16(2000).Uint16(tick).Program(), begin().Byte(0).Uint16(2001).Uint16(tick).Program())
		}
		for _, age := range []int{120, 120 + 599, 120 + 602, 0} {
			own = append(own, begin().Byte(0).Uint16(age).Uint16(0).Byte(0).Program())
		}
		for where := range byte(places) {
			for how := range byte(8) {
				own = append(own, begin().Byte(0).Uint16(121).Uint16(500).Byte(1).Byte(where).Byte(how).Bytes([]byte("other")).Program())
				// Made with that place changed, and read with it changed again.
				made := begin().Byte(1).Byte(where).Byte(how)
				if how == 0 {
					made.Bytes([]byte("other"))
				}
				own = append(own, made.Uint16(121).Uint16(500).Byte(1).Byte(where).Byte(how+1).Bytes([]byte("third")).Program())
			}
		}
		seeds = append(seeds, meant(s.dear, own)...)
	}
	return begun(seeds), nil
}
