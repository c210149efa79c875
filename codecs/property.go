package codecs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Property is a security property that a design may claim. Guarantees,
// attacks, negative controls, flags of vectors, workers and reports use the
// same names.
type Property string

// The properties.
const (
	Integrity            Property = "integrity"
	Confidentiality      Property = "confidentiality"
	Canonical            Property = "canonical"
	BindsMethod          Property = "binds-method"
	BindsTarget          Property = "binds-target"
	BindsArguments       Property = "binds-arguments"
	BindsPrincipal       Property = "binds-principal"
	BindsAudience        Property = "binds-audience"
	Unambiguous          Property = "unambiguous"
	Expiry               Property = "expiry"
	Rotation             Property = "rotation"
	KeySeparation        Property = "key-separation"
	KeyCommitting        Property = "key-committing"
	NonceMisuseResistant Property = "nonce-misuse-resistant"
	FreshNonces          Property = "fresh-nonces"
	SenderAuthenticated  Property = "sender-authenticated"
	Unlinkable           Property = "unlinkable"
	UniformRefusal       Property = "uniform-refusal"
	SteadyTiming         Property = "steady-timing"
	Total                Property = "total"
	ByteExact            Property = "byte-exact"
	StrongKeys           Property = "strong-keys"
	SingleUse            Property = "single-use"
	Inert                Property = "inert"
	PrivateKeys          Property = "private-keys"
)

// A PropertyInfo describes a Property.
type PropertyInfo struct {
	Property Property
	Promise  string // the promise that a design makes by claiming the property
	// SchemeOnly says that the property concerns claims, so that a bare codec
	// cannot have it.
	SchemeOnly bool
	// RestsOn lists the properties that this one depends on: if one of them is
	// refuted, so is this one.
	RestsOn []Property
}

// properties lists the properties and their dependencies.
var properties = []PropertyInfo{
	{Property: Integrity, Promise: "only contents sealed under a ring key are accepted; changed, truncated, spliced or missing parts are refused"},
	{Property: Confidentiality, Promise: "a token reveals only the length of the payload; equal payloads give different tokens"},
	{Property: Canonical, Promise: "a sealed token has exactly one accepted encoding", RestsOn: []Property{Integrity}},
	{Property: BindsMethod, Promise: "a token minted for one method is refused for every other", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsTarget, Promise: "a token minted for one target is refused for every other", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsArguments, Promise: "a token minted for some arguments is refused for all others", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsPrincipal, Promise: "a token minted for one principal is refused for every other; absent differs from empty", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsAudience, Promise: "a token minted for one audience is refused for every other; absent differs from empty", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: Unambiguous, Promise: "different contexts have different encodings", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: Expiry, Promise: "every token expires: it is refused from its expiry on, and if issued in the future beyond the stated skew", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: Rotation, Promise: "the first ring key seals, every ring key unseals, and a removed key no longer unseals"},
	{Property: KeySeparation, Promise: "tokens of other designs and purposes under the same secret, and tokens under an equivalent secret, are refused", RestsOn: []Property{Integrity}},
	{Property: KeyCommitting, Promise: "a token opens under one key only", RestsOn: []Property{Integrity}},
	{Property: NonceMisuseResistant, Promise: "a repeated nonce reveals at most equality"},
	{Property: FreshNonces, Promise: "nonces do not repeat within the stated number of tokens, even across restarts"},
	{Property: SenderAuthenticated, Promise: "the keys that open tokens cannot mint them", RestsOn: []Property{Integrity}},
	{Property: Unlinkable, Promise: "two tokens do not reveal that they belong to the same principal", SchemeOnly: true},
	{Property: UniformRefusal, Promise: "refusals reveal neither their cause nor a secret to the presenter; contents are checked only after authentication"},
	{Property: SteadyTiming, Promise: "the time of a refusal does not depend on secrets"},
	{Property: Total, Promise: "every input gets an answer, in time and memory linear in its length, without a crash or a hang"},
	{Property: ByteExact, Promise: "the state is returned byte for byte"},
	{Property: StrongKeys, Promise: "keys shorter than 32 bytes and rings with a duplicate key are refused"},
	{Property: Inert, Promise: "opening a token runs no code from it; costly work, such as key stretching or decompression, follows authentication"},
	{Property: PrivateKeys, Promise: "the tag is the only value in a token against which a guessed key can be checked offline"},
	{Property: SingleUse, Promise: "a token is accepted once", SchemeOnly: true, RestsOn: []Property{Integrity}},
}

// Properties returns a description of every property, in a fixed order.
func Properties() []PropertyInfo {
	return append([]PropertyInfo(nil), properties...)
}

// ParseProperty returns the property called name.
func ParseProperty(name string) (Property, error) {
	for _, p := range properties {
		if string(p.Property) == name {
			return p.Property, nil
		}
	}
	known := make([]string, len(properties))
	for i, p := range properties {
		known[i] = string(p.Property)
	}
	return "", fmt.Errorf("%q is not a property; there are %s", name, strings.Join(known, ", "))
}

// A Guarantee is a design's claim or disclaimer of one property.
type Guarantee struct {
	Property Property
	Holds    bool
	// Reason says why the property holds, or why the design disclaims it. A
	// disclaimer must give a reason.
	Reason string
}

// Holds states that each property holds.
func Holds(ps ...Property) []Guarantee {
	gs := make([]Guarantee, 0, len(ps))
	for _, p := range ps {
		gs = append(gs, Guarantee{Property: p, Holds: true})
	}
	return gs
}

// HoldsBecause states that a property holds, with the reason.
func HoldsBecause(p Property, reason string) []Guarantee {
	return []Guarantee{{Property: p, Holds: true, Reason: reason}}
}

// Disclaims states that a property does not hold, with the reason.
func Disclaims(p Property, reason string) []Guarantee {
	return []Guarantee{{Property: p, Reason: reason}}
}

// Always returns the Guarantees function of a design whose options change no
// guarantee.
func Always(groups ...[]Guarantee) func(map[string]string) []Guarantee {
	all := slices.Concat(groups...)
	return func(map[string]string) []Guarantee { return all }
}

// GuaranteesFor returns the guarantees of the design under options, in the
// order of Properties. Missing options have their defaults.
func (d *Design) GuaranteesFor(options map[string]string) []Guarantee {
	all := slices.Clone(d.guarantees(options))
	slices.SortStableFunc(all, func(a, b Guarantee) int { return cmp.Compare(place(a.Property), place(b.Property)) })
	return all
}

// guarantees returns the guarantees under options in the order of the design.
func (d *Design) guarantees(options map[string]string) []Guarantee {
	if d.Guarantees == nil {
		return nil
	}
	chosen := d.defaults()
	maps.Copy(chosen, options)
	return d.Guarantees(chosen)
}

// place returns the index of p in Properties, or -1 if p is unknown.
func place(p Property) int {
	return slices.IndexFunc(properties, func(i PropertyInfo) bool { return i.Property == p })
}

// Guarantee returns the guarantee of p under options, and reports whether the
// design claims or disclaims p.
func (d *Design) Guarantee(p Property, options map[string]string) (Guarantee, bool) {
	all := d.guarantees(options)
	i := slices.IndexFunc(all, func(g Guarantee) bool { return g.Property == p })
	if i < 0 {
		return Guarantee{}, false
	}
	return all[i], true
}
