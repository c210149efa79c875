package attack

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sealab/codecs"
)

// A Layer is the access that an attack needs.
type Layer string

// The layers.
const (
	LayerText      Layer = "text"      // a token
	LayerContext   Layer = "context"   // other contexts and times
	LayerReseal    Layer = "re-seal"   // the inside, authenticated again after an edit
	LayerOracle    Layer = "oracle"    // tokens minted under contexts of the attacker's choice
	LayerKeys      Layer = "keys"      // other rings
	LayerResources Layer = "resources" // work and memory
)

// An Attack tries to refute properties of a design.
type Attack struct {
	ID   string // stable; upper case, for example "ENC-01"
	Name string
	// Refutes are the properties that the attack is aimed at.
	Refutes []codecs.Property
	Layer   Layer
	CWE     int    // the CWE number of the weakness that the attack finds (cwe.mitre.org)
	Origin  string // the source of the attack
	Gain    string // what an attacker gains if the attack succeeds
	// Minor reports that success gains an attacker so little that a finding is at most a
	// warning.
	Minor bool
	Run   func(*T)
	// Hundreds is the number of calls that the attack makes of a sound scheme, in hundreds; 0 if fewer.
	// The cost of other work is converted to calls. Expensive attacks run after cheap ones, so that a
	// run of a slow design has time for most of them.
	Hundreds int
	// Measures reports that the attack measures memory or work. No other attack runs beside it,
	// unless the system reports memory and work separately for each process of the design.
	Measures bool
	// First reports that the attack runs before others, the cheap ones first. It measures
	// the cost of a call, which may show that the run has too little time for all attacks,
	// or it is cheap and the only one on a property.
	First bool
	// Last reports that the attack reads the misbehavior that all other attacks caused. It
	// runs last, even if the time is over.
	Last bool
	// Dropped is the reason why the attack is listed but not run. Run is nil.
	Dropped string
}

// GainForgery is the gain of an attack whose forged token is accepted.
const GainForgery = "a forged token that the server accepts"

// Aims reports whether the attack is aimed at p.
func (a *Attack) Aims(p codecs.Property) bool { return slices.Contains(a.Refutes, p) }

// turn returns the sort key of the attack in [Order].
func (a *Attack) turn() int {
	switch {
	case a.First:
		return a.Hundreds - math.MaxInt
	case a.Last:
		return math.MaxInt
	default:
		return a.Hundreds
	}
}

// Order sorts attacks into the order in which they run. Cheap attacks keep their order;
// expensive ones follow.
func Order(all []Attack) {
	slices.SortStableFunc(all, func(a, b Attack) int { return cmp.Compare(a.turn(), b.turn()) })
}

// Select returns the attacks with the given IDs or of the given families, for example "ENC". If
// only is empty it returns all. An ID that matches no attack is an error.
func Select(all []Attack, only []string) ([]Attack, error) {
	if len(only) == 0 {
		return all, nil
	}
	var chosen []Attack
	for _, id := range only {
		n := len(chosen)
		for _, a := range all {
			if a.ID == strings.ToUpper(id) || strings.HasPrefix(a.ID, strings.ToUpper(id)+"-") {
				chosen = append(chosen, a)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("unknown attack %q: sealab attack --list prints all", id)
		}
	}
	return chosen, nil
}
