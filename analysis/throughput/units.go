package throughput

import (
	"fmt"
	"math"

	"sealab/analysis/stats"
)

// Size returns a number of bytes as "64 B" or "8 KiB".
func Size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// Duration returns nanoseconds to three digits with a unit.
func Duration(ns float64) string {
	switch {
	case ns >= 999.5e6:
		return digits(ns/1e9) + " s"
	case ns >= 999.5e3:
		return digits(ns/1e6) + " ms"
	case ns >= 999.5:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

// digits returns x to three digits, and to the unit if it is larger.
func digits(x float64) string {
	switch {
	case math.Abs(x) >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// percent returns a share as "1.2 %".
func percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// wide is how many times its estimate the end of an interval may be to be worth
// printing.
const wide = 10

// times returns a ratio with its interval, as "1.20 [1.18, 1.22]".
func times(i stats.Interval) string {
	if i.Hi > wide*i.Point {
		return digits(i.Point) + " [no interval]"
	}
	return fmt.Sprintf("%s [%s, %s]", digits(i.Point), digits(i.Lo), digits(i.Hi))
}
