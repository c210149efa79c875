// Package skeleton holds the sound designs from which the negative controls are made: a signed codec, an
// encrypted codec and a scheme. [NewSigner], [NewSealer] and [NewScheme] return one of them with a part
// replaced by a mistake, and [NewPair] a codec with a format of its own. A control claims the properties
// that its author would have believed, so finding the mistake contradicts a claim.
package skeleton

import (
	"slices"

	"sealab/codecs"
)

// A Control is a design with a known mistake.
type Control struct {
	codecs.Design
	// Breaks are the properties that the mistake breaks. Properties that depend on them break as well.
	Breaks []codecs.Property
	// Attacks are the IDs of the attacks that must refute the control.
	Attacks []string
	// Bytes is the least length of a hostile token at which the mistake shows. It is 0 if any length
	// suffices.
	Bytes int
}

// WithClaim makes the control claim a property that it breaks.
func WithClaim(c Control, p codecs.Property) Control {
	return withGuarantee(c, codecs.Guarantee{Property: p, Holds: true})
}

// WithDisclaimer makes the control disclaim a property.
func WithDisclaimer(c Control, p codecs.Property, reason string) Control {
	return withGuarantee(c, codecs.Guarantee{Property: p, Reason: reason})
}

// withGuarantee replaces the control's guarantee for a property.
func withGuarantee(c Control, g codecs.Guarantee) Control {
	others := slices.DeleteFunc(c.GuaranteesFor(nil), func(other codecs.Guarantee) bool { return other.Property == g.Property })
	c.Guarantees = codecs.Always(others, []codecs.Guarantee{g})
	return c
}

// NewControl returns a control of the design, which claims guarantees and breaks properties.
func NewControl(name, doc string, d codecs.Design, claims []codecs.Guarantee, broken []codecs.Property, attacks []string) Control {
	d.Name, d.Doc, d.Guarantees = "broken-"+name, doc, codecs.Always(claims)
	return Control{Design: d, Breaks: broken, Attacks: attacks}
}

// AtLength sets the token length in bytes from which the mistake shows.
func AtLength(n int, c Control) Control {
	c.Bytes = n
	return c
}
