package generate_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/testenv"
	"sealab/vectors/cases"
	"sealab/vectors/generate"
)

// atLeast is the minimum number of tests per design.
const atLeast = 150

// atLeastOver is the minimum for claims over a codec. The codec's vectors, and those of claims over the
// first codec, cover the rest.
const atLeastOver = 35

// TestStagesAndFlagsOccur checks that no family of cases has stopped working. Every design has enough
// tests, and every stage and flag occurs in some test.
func TestStagesAndFlagsOccur(t *testing.T) {
	testenv.SkipSample(t)
	stages, flags := map[string]int{}, map[string]int{}
	for _, d := range catalog.Formats() {
		f := committed(t, d)
		want := atLeast
		if d.Over != "" {
			want = atLeastOver
		}
		require.GreaterOrEqual(t, f.NumberTests, want, d.Name)
		for _, test := range f.Tests {
			stages[test.Stage]++
			for _, flag := range test.Flags {
				flags[flag]++
			}
		}
	}
	for _, s := range codecs.Stages() {
		require.NotZero(t, stages[s.String()], "no vector is refused as %s", s)
	}
	for flag := range cases.Notes {
		require.NotZero(t, flags[flag], "no vector has the flag %s", flag)
	}
	t.Logf("stages %v, flags %v", stages, flags)
}

// lenient is a codec that skips line feeds.
type lenient struct{ lab.Assembler }

func (c lenient) Unseal(dst, token []byte) ([]byte, error) {
	return c.Assembler.Unseal(dst, bytes.ReplaceAll(token, []byte("\n"), nil))
}

// TestABrokenPromiseIsNotWrittenDown is the control. A design that violates a property gets no vectors if
// it claims the property, and gets them if it disclaims it.
func TestABrokenPromiseIsNotWrittenDown(t *testing.T) {
	d := aCodec(t)
	sound := d.NewCodec
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := sound(c)
		if err != nil {
			return nil, err
		}
		return lenient{codec.(lab.Assembler)}, nil
	}
	_, err := generate.File(d, nil)
	require.ErrorContains(t, err, "it states canonical and accepts")

	d.Guarantees = codecs.Always(codecs.Disclaims(codecs.Canonical, "for this test"))
	f, err := generate.File(d, nil)
	require.NoError(t, err)
	require.NotEmpty(t, f.Tests)
}

// aCodec returns the first codec of the catalog.
func aCodec(t *testing.T) codecs.Design {
	t.Helper()
	for _, d := range catalog.Formats() {
		if !d.IsScheme() {
			return d
		}
	}
	t.Fatal("the catalog has no codec")
	return codecs.Design{}
}
