package leak

// spun keeps the compiler from leaving spin out.
var spun uint64

// spin takes a time in proportion to steps: each is a multiplication that waits
// for the one before.
func spin(steps int) {
	x := spun | 1
	for range steps {
		x *= 0x9e3779b97f4a7c15
	}
	spun = x
}

// stepCost returns the time in nanoseconds of one step of spin.
func stepCost() float64 {
	const steps = 20_000
	return float64(typical(func() { spin(steps) })) / steps
}
