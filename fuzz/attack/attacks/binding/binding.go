// Package binding holds the attacks on what a token is bound to: they present it in a context other
// than its own, and look for two contexts that are read as the same.
package binding

import (
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
)

// Attacks are the attacks of this package.
var Attacks = slices.Concat(contextAttacks, ambiguityAttacks)

var contextProperties = append([]codecs.Property{codecs.Unambiguous}, fields.Properties...)

// A trial is one run of an attack. Its methods are the attacks and parts of them.
type trial struct {
	*attack.T
	compared *comparisonBatch
}

// onTrial returns run as the Run function of an attack. It carries out the comparisons that wait.
func onTrial(run func(trial)) func(*attack.T) {
	return func(t *attack.T) {
		one := trial{t, &comparisonBatch{}}
		run(one)
		one.compareWaiting()
	}
}

// onScheme returns a method of trial as the Run function of an attack on schemes. It passes an
// honest token.
func onScheme(run func(trial, *attack.Instance, *attack.Token)) func(*attack.T) {
	return onTrial(func(t trial) {
		if in, tok, ok := t.Scheme(); ok {
			run(t, in, tok)
		}
	})
}
