package target

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/program"
)

var contextsTarget = Target{
	Name: "contexts", Layer: LayerRelations,
	Doc:   "mints in one situation and verifies in another: the same binding in time is accepted, another that the design binds and a time past expiry are refused",
	Run:   contexts,
	Seeds: contextsSeeds,
}

// life is how long tokens live in contexts.
const life = 600 * time.Second

// schemes are the schemes of the catalog with that life.
var schemes = sync.OnceValue(func() []subject {
	ttl := life
	var all []subject
	for _, d := range catalog.All() {
		if d.IsScheme() {
			all = append(all, mustSubject(d, codecs.Config{Secrets: secrets(d, 0), TTL: &ttl}))
		}
	}
	return all
})

func contexts(p *program.Program) error {
	s := schemes()[p.Pick(len(schemes()))]
	seed, state := s.seed(p), s.payload(p)
	made := home
	for range p.Pick(3) {
		made = made.change(p)
	}
	read, age := made, ageOf(p)
	for range p.Pick(3) {
		read = read.change(p)
	}
	read.now = made.now.Add(age)
	token, err := s.in(&made).assembler.SealSeeded(nil, seed, state)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.requireBound(token, state, &made, &read, age)
}

// ageOf reads how old a token is when it is read: from two minutes before it
// was made to twenty after, in milliseconds.
func ageOf(p *program.Program) time.Duration {
	return time.Duration(p.Uint16()%1320-120)*time.Second + time.Duration(p.Uint16()%1000)*time.Millisecond
}

// requireBound returns an error unless the token made in one situation is
// answered in another as the design promises. Within a second of expiry, where
// formats round, and before the token was made nothing is demanded.
func (s subject) requireBound(token, state []byte, made, read *situation, age time.Duration) error {
	got, refused, err := s.in(read).open(token)
	if err != nil {
		return err
	}
	switch {
	case refused == nil && s.mustRefuse(&made.binding, &read.binding):
		return fmt.Errorf("%s: a token for %s is accepted for %s", s.Name, describe(&made.binding), describe(&read.binding))
	case refused == nil && age >= life+time.Second && s.holds(codecs.Expiry):
		return fmt.Errorf("%s: a token that lives %v is accepted after %v", s.Name, life, age)
	case refused == nil && !s.same(state, got):
		return fmt.Errorf("%s: minted %q and got %q back", s.Name, state, got)
	case refused != nil && len(differs(&made.binding, &read.binding)) == 0 && age >= 0 && age <= life-time.Second:
		return fmt.Errorf("%s: its own token for %s is refused after %v: %s, %s", s.Name, describe(&made.binding), age, refused.Stage, refused.Reason)
	}
	return nil
}

func describe(b *codecs.Binding) string {
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
	for i := range schemes() {
		begin := func() *program.Writer {
			var w program.Writer
			return w.Pick(i, len(schemes())).Bytes([]byte("seed")).Bytes([]byte("state"))
		}
		for _, age := range []int{120, 120 + 599, 120 + 602, 0} {
			seeds = append(seeds, begin().Byte(0).Uint16(age).Uint16(0).Byte(0).Program())
		}
		for where := range byte(places) {
			for how := range byte(8) {
				seeds = append(seeds, begin().Byte(0).Uint16(121).Uint16(500).Byte(1).Byte(where).Byte(how).Bytes([]byte("other")).Program())
				// Made with that place changed, and read with it changed again.
				made := begin().Byte(1).Byte(where).Byte(how)
				if how == 0 {
					made.Bytes([]byte("other"))
				}
				seeds = append(seeds, made.Uint16(121).Uint16(500).Byte(1).Byte(where).Byte(how+1).Bytes([]byte("third")).Program())
			}
		}
	}
	return seeds, nil
}
