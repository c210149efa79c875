package replay_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/vectors"
	"sealab/vectors/cases"
	"sealab/vectors/generate"
	"sealab/vectors/replay"
)

var strict = replay.Demand{Exact: true, Reseal: true}

// first returns the first design that fits, with its vectors.
func first(t *testing.T, fits func(codecs.Design) bool) (codecs.Design, *vectors.File) {
	t.Helper()
	all := catalog.Formats()
	i := slices.IndexFunc(all, fits)
	require.GreaterOrEqual(t, i, 0)
	f, err := generate.File(all[i], all)
	require.NoError(t, err)
	return all[i], f
}

func isCodec(d codecs.Design) bool  { return !d.IsScheme() }
func isScheme(d codecs.Design) bool { return d.IsScheme() }

func wrong(r *replay.Report) []string {
	var ids []string
	for _, f := range r.Findings {
		if f.Outcome == replay.Wrong {
			ids = append(ids, f.Test.ID)
		}
	}
	return ids
}

func TestADesignAgreesWithItsVectors(t *testing.T) {
	for _, fits := range []func(codecs.Design) bool{isCodec, isScheme} {
		d, f := first(t, fits)
		r := replay.Run(f, d, strict)
		require.True(t, r.Stands(), r.Summary())
		require.Len(t, r.Findings, f.NumberTests)
	}
}

// TestEveryKindOfErrorIsFound spoils one test at a time and expects a finding.
func TestEveryKindOfErrorIsFound(t *testing.T) {
	d, f := first(t, isCodec)
	accept := slices.IndexFunc(f.Tests, func(t vectors.Test) bool { return t.Sealed && len(*t.Payload) > 0 })
	refuse := slices.IndexFunc(f.Tests, func(t vectors.Test) bool { return t.Stage == codecs.Unauthentic.String() })
	require.True(t, accept >= 0 && refuse >= 0)
	for name, c := range map[string]struct {
		at    int
		spoil func(*vectors.Test)
	}{
		"an accept turned into a refusal": {accept, func(t *vectors.Test) { t.Expect, t.Released = vectors.Refuse, nil }},
		"other bytes released":            {accept, func(t *vectors.Test) { t.Released = vectors.AsHex([]byte("other")) }},
		"another token sealed":            {accept, func(t *vectors.Test) { t.Payload = vectors.AsHex([]byte("other")) }},
		"a refusal turned into an accept": {refuse, func(t *vectors.Test) { t.Expect, t.Stage, t.Released = vectors.Accept, "", vectors.AsHex(nil) }},
		"another stage":                   {refuse, func(t *vectors.Test) { t.Stage = codecs.Expired.String() }},
		"another reason":                  {refuse, func(t *vectors.Test) { t.Reason = "weather" }},
	} {
		spoiled := *f
		spoiled.Tests = slices.Clone(f.Tests)
		c.spoil(&spoiled.Tests[c.at])
		r := replay.Run(&spoiled, d, strict)
		require.Equal(t, []string{f.Tests[c.at].ID}, wrong(r), name)
		var out bytes.Buffer
		require.NoError(t, r.Write(&out, 10))
		require.Contains(t, out.String(), "wrong: "+f.Tests[c.at].ID, name)
	}
	ringSpoiled := *f
	ringSpoiled.Rings = slices.Clone(f.Rings)
	ringSpoiled.Rings[0].Expect = vectors.Refuse
	require.Len(t, replay.Run(&ringSpoiled, d, strict).Rings, 1)
}

// TestOtherReadingsAreToldFromErrors runs a lenient reading against the vectors of a stricter one, and
// against its own answers in them.
func TestOtherReadingsAreToldFromErrors(t *testing.T) {
	for _, d := range catalog.Formats() {
		f, err := vectors.Read(vectors.Path(filepath.Join("..", "..", vectors.Folder), d.Name))
		require.NoError(t, err)
		i := slices.IndexFunc(f.Tests, func(t vectors.Test) bool { return slices.Contains(t.Flags, cases.FlagLenient) })
		if i < 0 {
			continue
		}
		for name := range f.Tests[i].Readings {
			other := lab.With(d, map[string]string{cases.OptionReading: name})
			r := replay.Run(f, other, replay.Demand{})
			require.Contains(t, outcomes(r), replay.Otherwise, r.Summary())
			require.Empty(t, wrong(r), name)
			r = replay.Run(f, other, replay.Demand{As: name})
			require.NotContains(t, outcomes(r), replay.Otherwise, r.Summary())
			require.True(t, r.Stands(), r.Summary())
		}
		return
	}
	t.Fatal("no format of the catalog has two readings that differ")
}

func outcomes(r *replay.Report) []replay.Outcome {
	var os []replay.Outcome
	for _, f := range r.Findings {
		os = append(os, f.Outcome)
	}
	return os
}

// dying is a codec that panics on some tokens.
type dying struct{ codecs.Codec }

func (c dying) Unseal(dst, token []byte) ([]byte, error) {
	if len(token) == 0 {
		panic("index out of range")
	}
	return c.Codec.Unseal(dst, token)
}

func TestADeathIsWrongAndNotTheEnd(t *testing.T) {
	d, f := first(t, isCodec)
	sound := d.NewCodec
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := sound(c)
		return dying{codec}, err
	}
	r := replay.Run(f, d, replay.Demand{})
	require.Len(t, wrong(r), 1, r.Summary())
	require.Len(t, r.Findings, f.NumberTests)
}

// broken is a codec that faults on every token.
type broken struct{ codecs.Codec }

func (broken) Unseal(dst, _ []byte) ([]byte, error) { return dst, codecs.ErrFault }

func TestWhatBreaksEachTimeIsNoLongerAsked(t *testing.T) {
	d, f := first(t, isCodec)
	d.NewCodec = func(codecs.Config) (codecs.Codec, error) { return broken{}, nil }
	r := replay.Run(f, d, replay.Demand{})
	require.ErrorIs(t, r.Died, codecs.ErrFault)
	require.ErrorContains(t, r.Fault, f.Tests[0].ID)
	require.Less(t, len(r.Findings), f.NumberTests)
	require.False(t, r.Stands())
}

func TestKindsAreNotMixed(t *testing.T) {
	_, f := first(t, isCodec)
	d, _ := first(t, isScheme)
	require.False(t, replay.Run(f, d, replay.Demand{}).Stands())
}
