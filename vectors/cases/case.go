// Package cases selects the tokens that a design is tested with. Families of
// cases follow from properties of the design: the steps that it emits, its
// options, the guarantees that it claims, and its kind (codec or scheme).
// Families do not depend on the names of designs.
//
// A case starts from a base: a token that the design itself seals and accepts.
// The case differs from the base in one thing: an edit during sealing, an
// alteration of the text, or another setting for reading.
package cases

import (
	"sealab/codecs"
	"sealab/vectors/kit"
)

// A Base is a sound token: its setting and the sealed payload or state.
type Base struct {
	Name, Doc string
	kit.Setting
	Payload []byte   // of a codec, or the state of a scheme
	Try     []Family // families to derive from it
}

// A Case is one token, derived from Base and read in one setting.
type Case struct {
	Name, Doc string
	Base      *Base
	Flags     []string
	Under     []string            // the ring that seals; nil: the base's
	Edit      kit.Edit            // applied during sealing; nil: no edit
	Text      func([]byte) []byte // applied to the token's text; nil: no change
	Read      func(*kit.Setting)  // changes the setting for reading; nil: as minted
	Want      Want
	// Property is the guarantee that Want follows from. If the design disclaims
	// it, its answer is recorded instead.
	Property codecs.Property
}

// A Want is the answer that a case demands if the design claims the case's
// property.
type Want uint8

// The values of Want. The zero value demands no answer: formats differ, and the
// design's answer is recorded.
const (
	Recorded Want = iota
	Accepted
	Refused
)

// A Scene is a base with a subject and the token that the subject sealed.
type Scene struct {
	*kit.Subject
	Base  *Base
	Seed  []byte
	Token []byte
	Trace kit.Trace
	// Other is a second sound token under the same key, with another seed and
	// payload. Cases take fields from it.
	Other kit.Trace
	// Foreign are sound tokens of other designs under the same secrets.
	Foreign []Foreign
}

// A Foreign is a token of another design.
type Foreign struct {
	Design codecs.Design
	Token  []byte
}

// A Family derives cases of one kind from a sound token. It returns nil if the
// design lacks the property that the family tests.
type Family func(*Scene) []Case

// everything lists the families for the first base of a design.
var everything = []Family{
	fields, tags, splices, inside, respellings, concealed, encodings, framings, truncations,
	keyRings, slots, crossings, twoKeys, claims, documents, undigested, times, contexts, oracles,
}

// few lists the families for the first base of a format with few vectors.
var few = []Family{
	fields, tags, splices, inside, encodings, framings, truncations, keyRings, slots, crossings, fewClaims, times, claimedContexts,
}
