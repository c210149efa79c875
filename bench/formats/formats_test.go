package formats_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/bench/formats"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
)

func quiet(string, int, int) {}

func find(t *testing.T, name string) formats.Subject {
	d, err := catalog.Find(name)
	require.NoError(t, err)
	return formats.Subject{Design: d}
}

// accepted returns the number of accepted encodings by kind.
func accepted(r formats.Row) map[string]int {
	by := map[string]int{}
	for _, f := range r.Foreign {
		by[f.Kind] = f.Accepted
	}
	return by
}

// TestCompare checks that sound designs accept no foreign encoding, and that those accepted by lenient
// readings are found.
func TestCompare(t *testing.T) {
	lenient := find(t, "fernet-0x80")
	lenient.Design = lab.With(lenient.Design, map[string]string{"reading": "sdk"})
	rows := formats.Compare([]formats.Subject{find(t, "aes-256-gcm"), find(t, "iron"), lenient}, 6, quiet)
	require.Len(t, rows, 3)
	for _, r := range rows {
		require.Empty(t, r.Note, r.Name)
		require.Len(t, r.Sizes, len(formats.Lengths))
		require.NotEmpty(t, r.Errors)
		for _, f := range r.Foreign {
			require.NotZero(t, f.Tried, "%s: %s", r.Name, f.Kind)
		}
		for _, times := range []*formats.Interval{r.Mint, r.Open} {
			require.Equal(t, 6, times.Rounds)
			require.LessOrEqual(t, times.Low, times.Median)
			require.LessOrEqual(t, times.Median, times.High)
		}
	}
	for _, r := range rows[:2] {
		for kind, n := range accepted(r) {
			require.Zero(t, n, "%s: %s", r.Name, kind)
		}
	}
	for _, kind := range []string{"white space", "tail", "junk"} {
		require.NotZero(t, accepted(rows[2])[kind], kind)
	}
}

// trimming is a codec that ignores white space around tokens.
type trimming struct{ codecs.Codec }

func (c trimming) Unseal(dst, token []byte) ([]byte, error) {
	return c.Codec.Unseal(dst, bytes.TrimSpace(token))
}

// TestControl checks that white space accepted by a broken codec is found.
func TestControl(t *testing.T) {
	s := find(t, "aes-256-gcm")
	sound := s.NewCodec
	s.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := sound(c)
		return trimming{codec}, err
	}
	rows := formats.Compare([]formats.Subject{s}, 1, quiet)
	require.NotZero(t, accepted(rows[0])["white space"])
	require.Zero(t, accepted(rows[0])["junk"])
}

// TestEncodings checks that a difference is explained by the version or by a reason in the survey. Other
// differences are reported.
func TestEncodings(t *testing.T) {
	survey, err := formats.Survey()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(survey), 25)
	names := map[string]bool{}
	row := func(s formats.Surveyed, accepts []string) formats.Row {
		r := formats.Row{Name: s.Name, Spec: s.Name + " " + s.Version, Live: true}
		for _, kind := range formats.Kinds() {
			f := formats.Foreign{Kind: kind, Tried: 5}
			if slices.Contains(accepts, kind) {
				f.Accepted = 2
			}
			r.Foreign = append(r.Foreign, f)
		}
		return r
	}
	var rows []formats.Row
	for _, s := range survey {
		require.False(t, names[s.Name], s.Name)
		names[s.Name] = true
		require.NotEmpty(t, s.Version)
		for _, kind := range s.Accepts {
			require.Contains(t, formats.Kinds(), kind, s.Name)
		}
		for kind, why := range s.Why {
			require.Contains(t, formats.Kinds(), kind, s.Name)
			require.NotEmpty(t, why)
		}
		rows = append(rows, row(s, s.Accepts))
	}
	page, surveyed, unexplained, err := formats.Encodings(rows)
	require.NoError(t, err)
	require.Equal(t, len(survey), surveyed)
	require.Empty(t, unexplained)
	require.Equal(t, surveyed, strings.Count(page, "as in the survey"))

	// A library that accepts new encodings is reported, unless its version changed.
	strict := survey[0]
	changed := row(strict, formats.Kinds())
	_, _, unexplained, err = formats.Encodings([]formats.Row{changed})
	require.NoError(t, err)
	require.Equal(t, []string{strict.Name}, unexplained)
	changed.Spec = strict.Name + " 99"
	page, _, unexplained, err = formats.Encodings([]formats.Row{changed})
	require.NoError(t, err)
	require.Empty(t, unexplained)
	require.Contains(t, page, "the survey had version "+strict.Version)
}
