package framework

import (
	"math"
	"time"
)

// Milliseconds returns a time in Unix milliseconds, clamped to the range of
// int64. A later clock must not wrap, or an old token would be valid again.
func Milliseconds(t time.Time) int64 {
	const most = math.MaxInt64 / 1000
	switch s := t.Unix(); {
	case s >= most:
		return math.MaxInt64
	case s < -most:
		return math.MinInt64
	default:
		return t.UnixMilli()
	}
}

// Seconds returns a time in Unix seconds as Python and Swift do: a float of
// microseconds, or of whole seconds if microseconds are out of range.
func Seconds(t time.Time) float64 {
	const most = math.MaxInt64 / 1_000_000
	if s := t.Unix(); s >= most || s < -most {
		return float64(s)
	}
	return float64(t.UnixMicro()) / 1e6
}
