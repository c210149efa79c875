package bench

import "time"

// maxOps bounds the operations of a cell.
const maxOps = 1 << 30

// calibrate returns the number of operations that takes about the given time,
// at least one.
func calibrate(run func(n int) (time.Duration, error), target time.Duration) (int, error) {
	for n := 1; ; {
		elapsed, err := run(n)
		if err != nil {
			return 0, err
		}
		// A tenth of the target is long enough to extrapolate from, and a
		// longer trial would cost as much as a round.
		if elapsed >= target/10 || n >= maxOps {
			return min(maxOps, max(1, int(float64(n)*float64(target)/float64(max(1, elapsed))))), nil
		}
		n *= 4
	}
}
