package timing

// spin takes a time in proportion to steps: each is a multiplication that waits
// for the one before, and the first waits for begin.
func spin(steps int, begin byte) byte {
	x := uint64(begin) | 1
	for range steps {
		x *= 0x9e3779b97f4a7c15
	}
	return byte(x >> 56)
}

// spun keeps the compiler from leaving spin out.
var spun byte

// stepCost returns the time in nanoseconds of one step of spin.
func stepCost() float64 {
	const steps = 20_000
	return float64(typical(func() { spun = spin(steps, spun) })) / steps
}
