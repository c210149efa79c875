// Package attack runs attacks on sealed tokens against any codec or scheme, in this process or
// behind a worker, and reports an outcome for each property of the design: refuted, not
// refuted, or not tested with the reason.
//
// An [Attack] is a value: an ID, the properties that it tries to refute, its origin, the gain
// of an attacker, and a function that gets a [T]. The attacks themselves are in package
// attacks; this package does not know them. An attack does not know the design: the format of
// tokens is inferred from tokens (package tokenfmt). If an attack needs more than the contract
// offers, it asks the [Instance]. It is not tested if the design lacks that ability.
//
// Accepted tokens are judged by meaning. An altered text that gives the same state from the
// same bytes is a second spelling (canonical). Other bytes that are accepted were never sealed
// (integrity). A property that a design does not claim is attacked too, and its refutation is
// an observation.
//
// All random choices derive from the seed. A refutation is kept if its evidence shows the claim
// and if it can be reproduced: by the deciding calls on a fresh instance, or by a second run of
// the attack. An attack that is left out or cut short for lack of time is not tested.
//
// The package reads no clock and writes no file. Limitations: it does not judge timing (see
// bench/timing). "Not refuted" means that none of the listed attacks succeeded.
package attack
