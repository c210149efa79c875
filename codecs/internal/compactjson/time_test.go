package compactjson

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTimesAsStrconv compares times with the shortest digits of package
// strconv: random floats, decimals of few places, and both ends of the range.
func TestTimesAsStrconv(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	printed := 0
	check := func(f float64) {
		got, ok := appendTime(nil, f)
		if !ok {
			require.Empty(t, got)
			return
		}
		printed++
		want := strconv.FormatFloat(f, 'f', -1, 64)
		if f == math.Trunc(f) {
			want += ".0"
		}
		if string(got) != want {
			t.Fatalf("appendTime(%v) = %q, want %q", f, got, want)
		}
		if parsed, rest, ok := CutTime(append(got, ",1"...)); !ok || string(rest) != ",1" || parsed != f {
			t.Fatalf("CutTime(%q) = %v, %q, %v, want %v and the rest", string(got)+",1", parsed, rest, ok, f)
		}
	}
	for range 20_000 {
		f := firstTime + random.Float64()*(lastTime-firstTime)
		check(f)
		for place := 1.0; place <= 1e8; place *= 10 {
			check(math.Round(f*place) / place)
		}
	}
	require.Greater(t, printed, 190_000)
	for _, edge := range []float64{firstTime, 1 << 30, 1 << 31, lastTime} {
		for f, i := math.Nextafter(edge, 0), 0; i < 3; i++ {
			check(f)
			f = math.Nextafter(f, math.Inf(1))
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), -1795132800, 0, lastTime, math.Nextafter(firstTime, 0)} {
		_, ok := appendTime(nil, f)
		require.False(t, ok)
	}
}

// TestCutTimeTakesOneForm changes every byte of literals. A literal that
// CutTime accepts must be printed the same.
func TestCutTimeTakesOneForm(t *testing.T) {
	taken := 0
	for _, literal := range []string{"1795132800.25", "1795132800.0", "1000000000.123456", "4294967295.999999", "1795132800.2500002", "1795132800.1234567"} {
		for i := range literal {
			for c := range 256 {
				changed := []byte(literal)
				changed[i] = byte(c)
				f, rest, ok := CutTime(changed)
				if !ok || len(rest) > 0 {
					continue
				}
				taken++
				require.Equal(t, string(changed), string(AppendFloat(nil, f)))
			}
		}
	}
	require.Greater(t, taken, 300)
	for _, literal := range []string{"", "1795132800", "1795132800.", "1795132800.50", "0795132800.5", "4294967296.0", "1795132800.1234568", "1795132800.12345678", "179513280.25", "17951328001.5"} {
		_, rest, ok := CutTime([]byte(literal))
		require.False(t, ok && len(rest) == 0, literal)
	}
}
