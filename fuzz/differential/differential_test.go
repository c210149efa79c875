package differential_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/fuzz/differential"
	"sealab/internal/testenv"
)

const seed, count = 7, 250

// compare runs a short comparison and returns the tally and the disagreements.
func compare(t *testing.T, here, there codecs.Design) (differential.Tally, []differential.Disagreement) {
	t.Helper()
	var found []differential.Disagreement
	t.Logf("seed %d", seed)
	tally, err := differential.Run{Here: here, There: there, Seed: seed, Count: count,
		Found: func(d differential.Disagreement) error {
			found = append(found, d)
			return nil
		}}.Do()
	require.NoError(t, err)
	require.Len(t, found, tally.Disagreed)
	require.GreaterOrEqual(t, tally.Tokens, count)
	return tally, found
}

// TestEveryDesignAgreesWithItself compares sound designs with themselves. There must be no
// disagreement.
func TestEveryDesignAgreesWithItself(t *testing.T) {
	designs := catalog.Variants()
	require.NotEmpty(t, designs)
	for i, d := range designs {
		if testenv.Sample() && i%4 != 0 {
			continue // test a quarter of the designs
		}
		t.Run(d.Name, func(t *testing.T) {
			tally, found := compare(t, d, d)
			require.Empty(t, found)
			require.NotZero(t, tally.Accepted)
			require.NotZero(t, tally.Refused[codecs.Malformed])
			require.NotZero(t, tally.Refused[codecs.Unauthentic])
		})
	}
}

// TestReadingsOfOneFormatDisagree is a control from the catalog: designs with a common format
// that differ in the tokens they accept.
func TestReadingsOfOneFormatDisagree(t *testing.T) {
	disagreeing := 0
	for _, a := range catalog.Variants() {
		for _, b := range catalog.Variants() {
			if a.Name < b.Name && a.SharesFormat(b) {
				tally, _ := compare(t, a, b)
				t.Logf("%s and %s: %d disagreements", a.Name, b.Name, tally.Disagreed)
				disagreeing += min(tally.Disagreed, 1)
			}
		}
	}
	require.NotZero(t, disagreeing)
}

// A fault changes the answers of a scheme in one way.
type fault struct {
	codecs.Scheme
	verify func(state []byte, err error) ([]byte, error)
	mint   error
}

func (f fault) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	if f.mint != nil {
		return dst, f.mint
	}
	return f.Scheme.Mint(dst, state, b)
}

func (f fault) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := f.verify(f.Scheme.Verify(nil, token, b))
	return append(dst, out...), err
}

func same(state []byte, err error) ([]byte, error) { return state, err }

func at(stage codecs.Stage, instead error) func([]byte, error) ([]byte, error) {
	return func(state []byte, err error) ([]byte, error) {
		if r := codecs.Rejected(err); r != nil && r.Stage == stage {
			return nil, instead
		}
		return state, err
	}
}

// faults are the controls. Each must be found.
var faults = map[string]fault{
	"forgeries pass":        {verify: at(codecs.Unauthentic, nil)},
	"contexts are not seen": {verify: at(codecs.Misbound, nil)},
	"time is not seen":      {verify: at(codecs.Expired, nil)},
	"odd spellings pass":    {verify: at(codecs.Malformed, nil)},
	"another stage":         {verify: at(codecs.Misbound, codecs.Reject(codecs.Expired, "request binding"))},
	"another reason":        {verify: at(codecs.Unauthentic, codecs.Reject(codecs.Unauthentic, "other"))},
	"unsupported":           {verify: at(codecs.Malformed, codecs.ErrUnsupported)},
	"dies of it":            {verify: at(codecs.Malformed, codecs.ErrFault)},
	"panics":                {verify: func([]byte, error) ([]byte, error) { panic("out of range") }},
	"does not mint":         {verify: same, mint: codecs.ErrUnsupported},
	"another state": {verify: func(state []byte, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		return append(state, ' '), nil
	}},
	"refuses all": {verify: func([]byte, error) ([]byte, error) { return nil, codecs.Reject(codecs.Malformed, "malformed") }},
}

// broken returns a scheme of the catalog, without and with the fault.
func broken(t *testing.T, f fault) (sound, faulty codecs.Design) {
	t.Helper()
	for _, d := range catalog.Variants() {
		g, stated := d.Guarantee(codecs.BindsArguments, nil)
		if !d.IsScheme() || !stated || !g.Holds {
			continue
		}
		faulty = d
		faulty.NewScheme = func(c codecs.Config) (codecs.Scheme, error) {
			s, err := d.NewScheme(c)
			return fault{s, f.verify, f.mint}, err
		}
		return d, faulty
	}
	t.Fatal("no scheme of the catalog binds arguments")
	return sound, faulty
}

func TestFaultsAreFound(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			sound, faulty := broken(t, f)
			var found int
			_, err := differential.Run{Here: sound, There: faulty, Seed: seed, Count: count,
				Found: func(d differential.Disagreement) error {
					found++
					requireReplay(t, sound, d)
					return nil
				}}.Do()
			if found == 0 {
				require.NoError(t, err)
			}
			require.NotZero(t, found)
		})
	}
}

// TestVerdictsAlone checks that Run.Verdicts finds faults in verdicts and states. It must
// ignore differences in reasons and stages, and states that one side cannot carry.
func TestVerdictsAlone(t *testing.T) {
	quiet := map[string]bool{"another stage": true, "another reason": true, "unsupported": true}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			sound, faulty := broken(t, f)
			run := differential.Run{Here: sound, There: faulty, Seed: seed, Count: count, Verdicts: true, Found: func(differential.Disagreement) error { return nil }}
			tally, err := run.Do()
			if quiet[name] {
				require.NoError(t, err)
			}
			require.Equal(t, quiet[name], tally.Disagreed == 0)
		})
	}
}

// requireReplay checks that the line of a disagreement, replayed against the sound side,
// disagrees again.
func requireReplay(t *testing.T, sound codecs.Design, d differential.Disagreement) {
	t.Helper()
	data, err := d.Line()
	require.NoError(t, err)
	require.NotContains(t, string(data), "\n")
	var line struct {
		System, Design, Note string
		worker.Case
	}
	require.NoError(t, json.Unmarshal(data, &line))
	require.Equal(t, differential.System, line.System)
	require.Equal(t, sound.Name, line.Design)
	require.Contains(t, line.Note, fmt.Sprintf("seed %d round ", seed))
	got, agrees, err := line.Replay(sound)
	require.NoError(t, err)
	require.False(t, agrees, "%s: %v", d, got)
	require.Equal(t, d.Here, got)
}

// An encoder replaces lone surrogates by U+FFFD, as a TextEncoder does.
type encoder struct{ codecs.Scheme }

func (e encoder) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	return e.Scheme.Verify(dst, bytes.ToValidUTF8(token, []byte("\ufffd")), b)
}

// A refuser refuses lone surrogates with a reason of its own.
type refuser struct{ codecs.Scheme }

func (f refuser) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	if !utf8.Valid(token) {
		return dst, codecs.Reject(codecs.Malformed, "not UTF-8")
	}
	return f.Scheme.Verify(dst, token, b)
}

// TestLoneSurrogatesArePresented compares sides that differ only in tokens that are not UTF-8.
func TestLoneSurrogatesArePresented(t *testing.T) {
	sound, encoding := broken(t, fault{verify: same})
	refusing := encoding
	wrap := func(outer func(codecs.Scheme) codecs.Scheme) func(codecs.Config) (codecs.Scheme, error) {
		return func(c codecs.Config) (codecs.Scheme, error) {
			s, err := sound.NewScheme(c)
			return outer(s), err
		}
	}
	encoding.NewScheme = wrap(func(s codecs.Scheme) codecs.Scheme { return encoder{s} })
	refusing.NewScheme = wrap(func(s codecs.Scheme) codecs.Scheme { return refuser{s} })
	_, found := compare(t, encoding, refusing)
	require.NotEmpty(t, found)
	for _, d := range found {
		require.False(t, utf8.Valid(d.Token), "%q", d.Token)
		requireReplay(t, encoding, d)
	}
}

// TestEveryOtherRingIsPresented finds a side that opens only tokens of its first key, although
// both sides refuse the first of the other rings.
func TestEveryOtherRingIsPresented(t *testing.T) {
	all := catalog.All()
	sound := all[slices.IndexFunc(all, func(d codecs.Design) bool { return d.IsScheme() && d.MaxKeys == 0 })]
	inner, first := sound.NewScheme, sound
	ofTwo := func(used int) func(codecs.Config) (codecs.Scheme, error) {
		return func(c codecs.Config) (codecs.Scheme, error) {
			if len(c.Secrets) != 2 {
				return nil, os.ErrInvalid
			}
			c.Secrets = c.Secrets[:used]
			return inner(c)
		}
	}
	sound.NewScheme, first.NewScheme = ofTwo(2), ofTwo(1)
	_, found := compare(t, sound, first)
	require.NotEmpty(t, found)
	for _, d := range found {
		require.Contains(t, d.Note, "rotated ring")
	}
}

func TestNothingInCommonIsAnError(t *testing.T) {
	sound, never := broken(t, fault{verify: same})
	never.NewScheme = func(codecs.Config) (codecs.Scheme, error) { return nil, os.ErrInvalid }
	_, err := differential.Run{Here: never, There: never, Count: 1}.Do()
	require.ErrorContains(t, err, "no token in common")
	one := 0
	_, err = differential.Run{Here: sound, There: never, Seed: seed, Count: 1, Found: func(d differential.Disagreement) error {
		one++
		requireReplay(t, sound, d)
		return nil
	}}.Do()
	require.ErrorContains(t, err, "no token in common")
	require.NotZero(t, one)

	_, deaf := broken(t, faults["refuses all"])
	_, err = differential.Run{Here: deaf, There: deaf, Count: count}.Do()
	require.ErrorContains(t, err, "accepted 0 of")
}

func TestARunIsDeterministic(t *testing.T) {
	sound, faulty := broken(t, faults["another reason"])
	var runs [2]bytes.Buffer
	for i := range runs {
		_, found := compare(t, sound, faulty)
		for _, d := range found {
			fmt.Fprintf(&runs[i], "%s\n", d.Note)
		}
	}
	require.Equal(t, runs[0].String(), runs[1].String())
}
