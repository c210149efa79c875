package review

import "slices"

// Checks returns every check, in the order in which they are carried out.
func Checks() []Check {
	return slices.Concat(forging, spelling, binding, refusing, reading, rounds, lasting, header, bodies, offers, streams, sessions)
}
