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
	{Property: Integrity, Promise: "what was not sealed under a ring key is refused, whatever was cut, changed, spliced or left out"},
	{Property: Confidentiality, Promise: "a token tells nothing of the payload but its length; equal payloads give unequal tokens"},
	{Property: Canonical, Promise: "one payload sealed once has exactly one accepted spelling", RestsOn: []Property{Integrity}},
	{Property: BindsMethod, Promise: "a token minted for one method is refused for every other", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsTarget, Promise: "a token minted for one target is refused for every other", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsArguments, Promise: "a token minted for some arguments is refused for all others", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsPrincipal, Promise: "a token minted for one principal is refused for every other; absent differs from empty", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: BindsAudience, Promise: "a token minted for one audience is refused for every other; absent differs from empty", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: Unambiguous, Promise: "no two different bindings are read as the same one", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: Expiry, Promise: "refused from expiry on and when issued in the future beyond the stated skew; no way to be without expiry", SchemeOnly: true, RestsOn: []Property{Integrity}},
	{Property: Rotation, Promise: "every ring key unseals, the first seals, a removed key is gone"},
	{Property: KeySeparation, Promise: "a token of another design, purpose or equivalent key under the same secret is refused", RestsOn: []Property{Integrity}},
	{Property: KeyCommitting, Promise: "no token opens under two keys", RestsOn: []Property{Integrity}},
	{Property: NonceMisuseResistant, Promise: "a repeated nonce reveals at most equality"},
	{Property: FreshNonces, Promise: "nonces do not repeat within the stated number of tokens, also across restarts"},
	{Property: SenderAuthenticated, Promise: "who can only read cannot mint", RestsOn: []Property{Integrity}},
	{Property: Unlinkable, Promise: "two tokens do not show that they belong to one principal", SchemeOnly: true},
	{Property: UniformRefusal, Promise: "refusals do not tell their cause or any secret to the presenter; nothing is judged before it is authenticated"},
	{Property: SteadyTiming, Promise: "the time of a refusal does not depend on secrets"},
	{Property: Total, Promise: "any input gets an answer, in time and memory linear in its length; no death, no hang"},
	{Property: ByteExact, Promise: "the state comes back as the same bytes"},
	{Property: StrongKeys, Promise: "keys under 32 bytes, and a ring with a key twice, are refused"},
	{Property: Inert, Promise: "opening a token runs no code and does no costly work, such as key stretching or decompression, before it is authenticated"},
	{Property: PrivateKeys, Promise: "a token publishes no value but its tag by which a guessed key can be checked offline"},
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
