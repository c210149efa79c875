package review

import "slices"

// Checks returns every check, in the order in which they are carried out.
func Checks() []Check {
	return slices.Concat(forging, guessing, spelling, binding, instances, refusing, reading, rounds, lasting, header, negotiating, bodies, telling, credentials, offers, limits, streams, sessions, pushing)
}
