package attack

import (
	"cmp"
	"math"
	"slices"

	"sealab/codecs"
)

// A Layer says what an attack needs.
type Layer string

// The layers.
const (
	LayerText      Layer = "string"    // a token and nothing else
	LayerContext   Layer = "context"   // other bindings and times
	LayerReseal    Layer = "re-seal"   // the inside, authenticated again after an edit
	LayerOracle    Layer = "oracle"    // tokens minted under contexts of the attacker's choice
	LayerKeys      Layer = "keys"      // other rings
	LayerResources Layer = "resources" // work and memory
)

// A Refuter is one attack. It works on any codec or scheme and does not know
// which it has before it.
type Refuter struct {
	ID   string // stable; upper case, as "ENC-01"
	Name string
	// Refutes are the properties that the attack is aimed at.
	Refutes []codecs.Property
	Layer   Layer
	Origin  string // where the attack is known from
	Gain    string // what whoever succeeds with it has gained
	Run     func(*Trial)
	// Thousands is how many thousand calls the attack makes, or takes as long as;
	// 0: fewer. Dear attacks come after cheap ones, so that a slow subject meets
	// those in its time.
	Thousands int
	// Measures says that the attack measures what this process spends: no other
	// attack may run beside it.
	Measures bool
	// Dropped, where Run is nil, says why the attack is in the catalog and is
	// not carried out.
	Dropped string
}

// Catalog returns every attack in the order in which they are carried out: by
// family, the dear ones of all families after them, and at the end what was seen
// beside the answers to all of these.
func Catalog() []Refuter {
	all := slices.Concat(onText, onFrames, onTags, onKeys, onNonces, onContexts, onFields, onTime, onPayloads, onOracles, onResources)
	slices.SortStableFunc(all, func(a, b Refuter) int { return cmp.Compare(a.turn(), b.turn()) })
	return all
}

// turn is when the attack is carried out: earlier for less.
func (r *Refuter) turn() int {
	if r.ID == misbehaviourID {
		return math.MaxInt
	}
	return r.Thousands
}

// Aims reports whether the attack is aimed at p.
func (r *Refuter) Aims(p codecs.Property) bool { return slices.Contains(r.Refutes, p) }
