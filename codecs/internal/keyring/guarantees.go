package keyring

import (
	"slices"

	"sealab/codecs"
)

// Guarantees returns the guarantees of every design whose tokens carry the key ID
// of a ring and that authenticates before it does anything else.
func Guarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Inert),
		codecs.Disclaims(codecs.PrivateKeys, "the key ID is derived from the secret: it rules out all but one in 2^32 guesses of a secret that is not random"),
	)
}
