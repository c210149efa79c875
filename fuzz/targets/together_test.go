package targets

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDuring holds that nothing goes on behind a call, also one that panics,
// which a harness lives through, and that the errors of both are kept.
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
		for seen := others.Load(); others.Load() == seen; { // it goes on
			runtime.Gosched()
		}
		return nil
	}))
}
