// Package broken holds the negative controls of the attacks: codecs and schemes that are each broken on
// purpose in one property, by a mistake that a programmer might make. An attack that does not refute its
// control is blind.
//
// Most controls are a sound skeleton, of package skeleton, with one part replaced by a mistake.
//
// Use this package only to test attacks.
package broken

import (
	"maps"
	"slices"

	"sealab/codecs"
	"sealab/internal/broken/binding"
	"sealab/internal/broken/encoding"
	"sealab/internal/broken/encryption"
	"sealab/internal/broken/expiry"
	"sealab/internal/broken/framing"
	"sealab/internal/broken/jose"
	"sealab/internal/broken/keys"
	"sealab/internal/broken/oracles"
	"sealab/internal/broken/resources"
	"sealab/internal/broken/sequences"
	"sealab/internal/broken/skeleton"
	"sealab/internal/broken/tags"
)

// A Control is a design with a known mistake.
type Control = skeleton.Control

// Controls returns every control.
func Controls() []Control {
	return slices.Concat(
		encoding.Spellings(), framing.Borders(), framing.Segments(), tags.Replaced(), tags.Checks(), tags.Texts(), resources.EarlyWork(),
		binding.Fields(), binding.Values(), binding.Names(), binding.Arguments(), binding.Claims(), encryption.CountedNonces(),
		encryption.Encrypted(), encryption.DerivedNonces(), tags.Checksums(), tags.Weak(), encryption.KeyStreams(),
		keys.Weak(), keys.Separation(), keys.Rotation(), oracles.Refusals(),
		binding.Unbound(), binding.Equated(), oracles.Leaks(), binding.RareBranches(), sequences.Batches(), framing.RareLengths(), framing.LongStates(),
		expiry.Misjudged(), expiry.Miswritten(), expiry.Unchecked(), expiry.UsedTokens(), resources.Calls(),
		jose.Headers(), sequences.KeptStates(), binding.GluedStates(), encoding.LenientReaders(), encoding.BinaryFormats())
}

// Neighbors returns sound designs that resemble controls, by name. Attacks must not refute them.
func Neighbors() map[string]codecs.Design {
	all := map[string]codecs.Design{}
	for _, family := range []map[string]codecs.Design{
		encoding.Neighbors(), framing.Neighbors(), tags.Neighbors(), encryption.Neighbors(), oracles.Neighbors(),
		expiry.Neighbors(), sequences.Neighbors(), resources.Neighbors(), jose.Neighbors(),
	} {
		maps.Copy(all, family)
	}
	return all
}
