// Package attacks holds the attacks on sealed tokens, one file per family: encoding
// (ENC), framing (FRM), tags (TAG), keys (KEY), nonces (NON), expiry (EXP), payloads (PAY)
// and oracles (ORA, LNK). Some have packages of their own: binding (CTX), resources (RES),
// predictions (TAG-15) and jose (JOS). [All] lists all attacks.
//
// Each attack is a value of type [attack.Attack]. It names the properties that it tries
// to refute, and has a negative control in internal/broken that it must refute. Sound
// designs must stay unrefuted; both are tests of this package.
package attacks

import (
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks/binding"
	"sealab/fuzz/attack/attacks/jose"
	"sealab/fuzz/attack/attacks/predictions"
	"sealab/fuzz/attack/attacks/resources"
	"sealab/fuzz/attack/tokenfmt"
)

// All returns every attack, in the order in which they run.
func All() []attack.Attack {
	all := slices.Concat(encodingAttacks, framingAttacks, tagAttacks, weakTagAttacks, predictions.Attacks, keyAttacks, nonceAttacks, binding.Attacks, expiryAttacks, payloadAttacks, oracleAttacks, sequenceAttacks, resources.Attacks, jose.Attacks)
	attack.Order(all)
	return all
}

// A trial is one run of an attack. Its methods are the attacks and parts of them.
type trial struct{ *attack.T }

// onTrial returns run as the Run function of an attack.
func onTrial(run func(trial)) func(*attack.T) {
	return func(t *attack.T) { run(trial{t}) }
}

// An onHonest is a method of trial that takes an instance and an honest token of it.
type onHonest func(trial, *attack.Instance, *attack.Token)

// onToken, onScheme and onTimed return a method of trial as the Run function of an attack: on
// any design, on a scheme, and on a scheme that takes the time from its arguments.
func onToken(run onHonest) func(*attack.T)  { return run.on(trial.Base) }
func onScheme(run onHonest) func(*attack.T) { return run.on(trial.Scheme) }
func onTimed(run onHonest) func(*attack.T)  { return run.on(trial.timed) }

func (run onHonest) on(mint func(trial) (*attack.Instance, *attack.Token, bool)) func(*attack.T) {
	return onTrial(func(t trial) {
		if in, tok, ok := mint(t); ok {
			run(t, in, tok)
		}
	})
}

var (
	spellingProperties  = []codecs.Property{codecs.Canonical, codecs.Integrity}
	integrityProperties = []codecs.Property{codecs.Integrity}
	totalProperties     = []codecs.Property{codecs.Total}
	refusalProperties   = []codecs.Property{codecs.UniformRefusal}
)

const (
	gainSpelling = "a second text of one token, which replay caches and revocation lists of texts do not recognize"
	gainStream   = "the XOR of two payloads, and from one known payload the other"
)

// presentSpellings returns a Run function that presents the spellings of generators, for tokens of
// each length modulo three.
func presentSpellings(generators ...generator) func(*attack.T) {
	return onTrial(func(t trial) {
		t.everyLength(func(in *attack.Instance, tok *attack.Token) { t.spellings(in, tok, generators...) })
	})
}

// presentChanges returns a Run function that presents the changes of one generator.
func presentChanges(generate generator) func(*attack.T) {
	return onToken(func(t trial, in *attack.Instance, tok *attack.Token) { t.changes(in, tok, generate) })
}

// changes presents the changes of generators.
func (t trial) changes(in *attack.Instance, tok *attack.Token, generators ...generator) {
	for _, generate := range generators {
		t.Changes(in, tok, t.of(tok, generate))
	}
}

// of returns the alterations of a token by a generator.
func (t trial) of(tok *attack.Token, generate generator) tokenfmt.Alterations {
	return func(yield func(tokenfmt.Alteration)) { generate(tok.Format(), t.Source, yield) }
}

// changedAt presents the changes of one generator to a token for state.
func (t trial) changedAt(in *attack.Instance, state []byte, c codecs.Context, generate generator) {
	if tok, ok := in.Mint(state, c); ok {
		t.changes(in, tok, generate)
	}
}

// A generator enumerates the alterations of one kind.
type generator = tokenfmt.Alterer

// spellings presents the spellings of generators. A long token has too many, so it is tested with
// random samples.
func (t trial) spellings(in *attack.Instance, tok *attack.Token, generators ...generator) {
	for _, generate := range generators {
		if len(tok.State) >= attack.LongState {
			generate = t.sampled(generate, 64)
		}
		t.Spellings(in, tok, t.of(tok, generate))
	}
}

// sampled returns a generator of a random sample: all alterations if they are size or fewer.
func (t trial) sampled(generate generator, size int) generator {
	return func(f tokenfmt.Format, s *tokenfmt.Source, yield func(tokenfmt.Alteration)) {
		var some []tokenfmt.Alteration
		seen := 0
		generate(f, s, func(a tokenfmt.Alteration) {
			seen++
			if at := t.IntN(seen); len(some) < size {
				some = append(some, a)
			} else if at < size {
				some[at] = a
			}
		})
		for _, a := range some {
			yield(a)
		}
	}
}

// everyLength calls do with tokens of each length modulo three, a long token, and one sealed by
// the second key of a ring.
func (t trial) everyLength(do func(in *attack.Instance, tok *attack.Token)) {
	in, tok, ok := t.Base()
	if !ok {
		return
	}
	for _, n := range []int{24, 25, 26, 1, attack.LongState} {
		if tok, ok := t.Mint(in, t.State(n)); ok {
			do(in, tok)
		}
	}
	if ring, err := t.Open(t.Secret(1), t.Secret(0)); err == nil {
		do(ring, tok)
	}
}
