package framework

import (
	"math"
	"time"
)

// Milliseconds returns a time in Unix milliseconds, or the nearest integer. A clock beyond
// their range must not wrap: an old token would be good again.
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

// Seconds returns a time in Unix seconds as Python and Swift have it: a float of
// microseconds, and of whole seconds beyond their range.
func Seconds(t time.Time) float64 {
	const most = math.MaxInt64 / 1_000_000
	if s := t.Unix(); s >= most || s < -most {
		return float64(s)
	}
	return float64(t.UnixMicro()) / 1e6
}
