// Package broken holds the negative controls of the attacks: codecs and schemes that are each broken on
// purpose in one property, by a mistake that a programmer might make. An attack that does not refute its
// control is blind.
//
// There are three sound skeletons: [signer], [sealer] and [envelope]. Most controls are a skeleton with
// one part replaced by a mistake. A control claims the properties that its author would have believed, so
// finding the mistake contradicts a claim.
//
// Use this package only to test attacks.
package broken

import (
	"encoding/json"
	"maps"
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

// Controls returns every control.
func Controls() []Control {
	return slices.Concat(
		encodingControls(), framingControls(), segmentControls(), replacedTagControls(), tagCheckControls(), taggedTextControls(), earlyWorkControls(),
		confusedFieldControls(), confusedValueControls(), confusedNameControls(), confusedArgumentControls(), confusedClaimControls(), countedNonceControls(),
		encryptionControls(), derivedNonceControls(), checksumControls(), weakTagControls(), keyStreamControls(),
		weakKeyControls(), keySeparationControls(), rotationControls(), refusalControls(),
		unboundControls(), equatedContextControls(), leakingControls(), rareBranchControls(), batchControls(), rareLengthControls(), longStateControls(),
		misjudgedTimeControls(), miswrittenTimeControls(), uncheckedTimeControls(), usedTokenControls(), resourceControls(),
		joseControls(), keptStateControls(), gluedStateControls(), lenientReaderControls(), binaryControls())
}

// Neighbors returns sound designs that resemble controls, by name. Attacks must not refute them.
func Neighbors() map[string]codecs.Design {
	all := map[string]codecs.Design{}
	for _, family := range []map[string]codecs.Design{
		encodingNeighbors(), framingNeighbors(), tagNeighbors(), encryptionNeighbors(), oracleNeighbors(),
		expiryNeighbors(), sequenceNeighbors(), resourceNeighbors(), joseNeighbors(),
	} {
		maps.Copy(all, family)
	}
	return all
}

// inJSON encodes a value that always has a JSON encoding.
func inJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("broken: " + err.Error())
	}
	return text
}

// withClaim makes the control claim a property that it breaks.
func withClaim(c Control, p codecs.Property) Control {
	return withGuarantee(c, codecs.Guarantee{Property: p, Holds: true})
}

// withDisclaimer makes the control disclaim a property.
func withDisclaimer(c Control, p codecs.Property, reason string) Control {
	return withGuarantee(c, codecs.Guarantee{Property: p, Reason: reason})
}

// withGuarantee replaces the control's guarantee for a property.
func withGuarantee(c Control, g codecs.Guarantee) Control {
	others := slices.DeleteFunc(c.GuaranteesFor(nil), func(other codecs.Guarantee) bool { return other.Property == g.Property })
	c.Guarantees = codecs.Always(others, []codecs.Guarantee{g})
	return c
}

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errMisbound    = codecs.Reject(codecs.Misbound, "context")
	errExpired     = codecs.Reject(codecs.Expired, "time")
)
