// Package attack carries out the catalog of attacks on sealed tokens against
// any codec or scheme, in this process or behind a worker, and says of each
// property of each design whether it stands.
//
// An attack is a [Refuter]: a value with its aim, its origin, what an attacker
// gains, and a function that gets a [Trial] and knows nothing of the design
// before it. The structure of tokens is found from tokens ([shapeOf]), never
// from a design; where an attack needs more than the contract gives, it asks
// for an optional interface and is unexercised without it.
//
// What an attack sees is judged by meaning. A changed text that gives the same
// state from the same bytes is a second spelling (canonical); other bytes that
// are accepted were never sealed (integrity). A property that a design does not
// state is attacked all the same, and its fall is an observation; one that it
// disclaims has to fall, or the attack is blind or the design better than it says.
//
// Everything is drawn from the seed. A refutation is kept only if it shows
// again: the deciding calls on a fresh subject, or else the whole attack.
//
// The package reads no clock and writes no file. It does not judge timing (see
// the analysis of probes), and a property that stands here has been attacked
// and did not fall; nothing more follows.
package attack
