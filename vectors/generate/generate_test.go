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

// atLeast is the least number of tests per design.
const atLeast = 150

// atLeastOver is the number of tests of claims over a codec, whose own vectors and
// those of claims over the first codec have the rest.
const atLeastOver = 35

// TestStagesAndFlagsOccur keeps families from falling silent: there are enough
// tests of every design, and every stage and every flag that the cases have
// occurs in some.
func TestStagesAndFlagsOccur(t *testing.T) {
	testenv.SkipRace(t)
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

// TestABrokenPromiseIsNotWrittenDown is the control: a design that states what
// it does not keep gets no vectors, and one that disclaims it gets them.
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

// aCodec returns some codec of the catalog that can be assembled.
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
