// Package cases says which tokens a design is tried with. Families of cases
// follow from what the design is: the steps that it emits, its options, the
// guarantees that it states, whether it is a codec or a scheme. None names a
// design.
//
// A case starts from a base, a token that the design itself seals and accepts,
// and differs from it in one thing: an edit while it is made, an alteration of
// its text, or another setting in which it is read.
package cases

import (
	"sealab/codecs"
	"sealab/vectors/kit"
)

// A Base is a sound token: its setting, and what is sealed.
type Base struct {
	Name, Doc string
	kit.Setting
	Payload []byte   // of a codec; the state of a scheme
	Try     []Family // what is derived from it
}

// A Case is one token, derived from Base, in one setting.
type Case struct {
	Name, Doc string
	Base      *Base
	Flags     []string
	Under     []string            // the ring under which it is made; nil: the base's
	Edit      kit.Edit            // while the token is made; nil: none
	Text      func([]byte) []byte // of the token's text; nil: none
	Read      func(*kit.Setting)  // where it is read; nil: where it was made
	Want      Want
	// Property is what a design promises that Want holds. Where it disclaims
	// the property, what it does is recorded instead.
	Property codecs.Property
}

// A Want is what a case demands of a design that states the case's property.
type Want uint8

// What a case can demand. The zero value demands nothing: formats differ on it,
// and what this one does is written down.
const (
	Recorded Want = iota
	Accepted
	Refused
)

// A Scene is a base brought to life in a subject.
type Scene struct {
	*kit.Subject
	Base  *Base
	Seed  []byte
	Token []byte
	Trace kit.Trace
	// Other is a second sound token under the same key, with another seed and
	// another payload, from which pieces can be taken.
	Other kit.Trace
	// Foreign are sound tokens of other designs under the same secrets.
	Foreign []Foreign
}

// A Foreign is a token of another design.
type Foreign struct {
	Design codecs.Design
	Token  []byte
}

// A Family derives cases of one kind from a sound token. It returns none where
// the design does not have what the family is about.
type Family func(*Scene) []Case

// everything is every family that is tried on the first base of a design.
var everything = []Family{
	fields, tags, splices, inside, respellings, concealed, encodings, framings, truncations,
	keyRings, slots, crossings, twoKeys, claims, documents, undigested, times, contexts, oracles,
}
