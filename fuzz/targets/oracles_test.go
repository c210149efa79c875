package targets

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

// An unsealing is a codec that cannot seal.
type unsealing func(dst, token []byte) ([]byte, error)

func (u unsealing) Seal([]byte, []byte) ([]byte, error)      { panic("it opens only") }
func (u unsealing) Unseal(dst, token []byte) ([]byte, error) { return u(dst, token) }

var errForged = codecs.Reject(codecs.Unauthentic, "tag")

// TestOpen checks that answers that break the contract are told from the three valid outcomes.
func TestOpen(t *testing.T) {
	tests := map[string]struct {
		unseal unsealing
		want   string // text in the error; "" for no error
	}{
		"accepts":              {func(dst, _ []byte) ([]byte, error) { return append(dst, "state"...), nil }, ""},
		"refuses":              {func(dst, _ []byte) ([]byte, error) { return dst, errForged }, ""},
		"cannot":               {func(dst, _ []byte) ([]byte, error) { return dst, fmt.Errorf("a number: %w", codecs.ErrUnsupported) }, ""},
		"changes the token":    {func(dst, token []byte) ([]byte, error) { token[0]++; return dst, errForged }, "changes the token"},
		"overwrites dst":       {func(_, _ []byte) ([]byte, error) { return []byte("state"), nil }, "overwrites dst"},
		"fails":                {func(dst, _ []byte) ([]byte, error) { return dst, errors.New("no room") }, "without a refusal"},
		"appends and refuses":  {func(dst, _ []byte) ([]byte, error) { return append(dst, 's'), errForged }, "changes dst"},
		"appends and cannot":   {func(dst, _ []byte) ([]byte, error) { return append(dst, 's'), codecs.ErrUnsupported }, "changes dst"},
		"says why it refuses":  {func(dst, _ []byte) ([]byte, error) { return dst, fmt.Errorf("forged: %w", errForged) }, "a refusal has another text"},
		"refuses without dst":  {func(_, _ []byte) ([]byte, error) { return nil, errForged }, "changes dst"},
		"accepts without dst":  {func(_, _ []byte) ([]byte, error) { return nil, nil }, "overwrites dst"},
		"writes behind dst":    {func(dst, _ []byte) ([]byte, error) { clear(dst[:cap(dst)][len(dst):]); return dst, errForged }, ""},
		"grows the same state": {func(dst, _ []byte) ([]byte, error) { return append([]byte(nil), append(dst, "state"...)...), nil }, ""},
	}
	for name, tt := range tests {
		s := instance{Design: codecs.Design{Name: name}, codec: lab.OfCodec(tt.unseal).At(nil)}
		_, _, err := s.open([]byte("v1.token"))
		if tt.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, tt.want, name)
	}
}

// TestSaid checks that another spelling is told from another text.
func TestSaid(t *testing.T) {
	require.Equal(t, lenientlyDecoded([]byte("AAA")), lenientlyDecoded([]byte("A A\nB=")))
	require.NotEqual(t, lenientlyDecoded([]byte("AAAA")), lenientlyDecoded([]byte("AABA")))
}

// TestPairsDiffer checks that each pair differs: the strict reading refuses some altered token
// that the faithful one accepts.
func TestPairsDiffer(t *testing.T) {
	require.NotEmpty(t, readingPairs())
	for _, r := range readingPairs() {
		token, err := r.strict.codec.SealSeeded(nil, make([]byte, r.strict.codec.SeedSize()), []byte(`"state"`))
		require.NoError(t, err)
		differ := false
		for n := 0; n < 20_000 && !differ; n++ {
			var w program.Writer
			altered := program.Alter(program.New(w.Byte(byte(n)).Byte(program.Anywhere).Uint16(n*7).Uint16(n*13).Uint16(n).Program()), append([]byte(nil), token...))
			_, strict, err := r.strict.open(altered)
			require.NoError(t, err)
			_, faithful, err := r.faithful.open(altered)
			require.NoError(t, err)
			differ = differ || strict != nil && faithful == nil
		}
		require.True(t, differ, "%s and %s", r.strict.Name, r.faithful.Name)
	}
}

// TestDuring checks that the other goroutine has ended when callDuring returns, even after a
// panic, and that errors of both are kept.
func TestDuring(t *testing.T) {
	before, inside := runtime.GOMAXPROCS(0), 0
	other := func() error {
		inside++
		runtime.Gosched()
		inside--
		return nil
	}
	require.PanicsWithValue(t, "of the call", func() {
		callDuring(other, func(*atomic.Int64) error { panic("of the call") }) //nolint:errcheck // it panics
	})
	require.Zero(t, inside)
	require.Equal(t, before, runtime.GOMAXPROCS(0))

	one, two := errors.New("one"), errors.New("two")
	err := callDuring(func() error { return one }, func(*atomic.Int64) error { return two })
	require.ErrorIs(t, err, one)
	require.ErrorIs(t, err, two)
	require.NoError(t, callDuring(other, func(others *atomic.Int64) error {
		for seen := others.Load(); others.Load() == seen; { // waits until it runs again
			runtime.Gosched()
		}
		return nil
	}))
}
