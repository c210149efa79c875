package framework_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/framework"
)

// TestClocks checks that results never decrease with time, from far below to
// far beyond the range of an int64.
func TestClocks(t *testing.T) {
	at := time.Date(2026, 7, 28, 12, 0, 0, 123_456_789, time.UTC)
	require.Equal(t, at.UnixMilli(), framework.Milliseconds(at))
	require.Equal(t, float64(at.UnixMicro())/1e6, framework.Seconds(at))
	lastMilli, lastSeconds := int64(math.MinInt64), math.Inf(-1)
	for _, s := range []int64{-1e18, -1e16, -9_223_372_036_854_776, -9_223_372_036_855, -9_223_372_036_854, -1, 0, 1, 9_223_372_036_853, 9_223_372_036_854, 9_223_372_036_855,
		9_223_372_036_854_774, 9_223_372_036_854_775, 9_223_372_036_854_776, 1e16, 1e18} {
		milli, seconds := framework.Milliseconds(time.Unix(s, 999_999_999)), framework.Seconds(time.Unix(s, 999_999_999))
		require.GreaterOrEqual(t, milli, lastMilli, "%d s", s)
		require.GreaterOrEqual(t, seconds, lastSeconds, "%d s", s)
		lastMilli, lastSeconds = milli, seconds
	}
	require.Equal(t, int64(math.MaxInt64), lastMilli)
}
