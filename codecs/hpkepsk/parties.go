package hpkepsk

import (
	"fmt"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/hpkekeys"
	"sealab/codecs/internal/keyring"
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errNotOneForm  = codecs.Reject(codecs.Malformed, "encapsulation")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errLowOrder    = codecs.Reject(codecs.Unauthentic, "encapsulation")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "seal")
)

// associatedData returns the data that is authenticated beside the payload.
func associatedData(id keyring.ID) []byte {
	return append([]byte(prefix), id[:]...)
}

// A Minter seals to one public key and cannot unseal.
type Minter struct{ key *hpkekeys.PublicKey }

// NewMinter returns the minter for a minter's key from Split.
func NewMinter(key []byte) (*Minter, error) {
	public, err := hpkekeys.ParsePublic(key, label)
	if err != nil {
		return nil, err
	}
	return &Minter{public}, nil
}

// Seal appends the token of payload to dst. It fails only if the HPKE
// implementation fails.
func (m *Minter) Seal(dst, payload []byte) ([]byte, error) {
	var seed [hpkekeys.SeedSize]byte
	keyring.Random(seed[:])
	return m.sealSeeded(dst, seed[:], payload)
}

// sealSeeded seals with randomness from seed.
func (m *Minter) sealSeeded(dst, seed, payload []byte) ([]byte, error) {
	if len(seed) != hpkekeys.SeedSize {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), hpkekeys.SeedSize)
	}
	enc, ctx, err := m.key.Encapsulate(seed)
	if err != nil {
		return dst, err
	}
	sealed, err := ctx.Seal(payload, associatedData(m.key.ID))
	if err != nil {
		return dst, fmt.Errorf("hpke: %w", err)
	}
	s := base64url.GetScratch()
	defer s.Free()
	s.Grow(minRaw + len(payload))
	s.Bytes = append(s.Bytes, m.key.ID[:]...)
	s.Bytes = append(s.Bytes, enc...)
	s.Bytes = append(s.Bytes, sealed...)
	dst = append(dst, prefix...)
	return base64url.AppendEncode(dst, s.Bytes), nil
}

// An Opener unseals tokens that were sealed to any key of its ring.
type Opener struct {
	ring *keyring.Ring[*hpkekeys.PrivateKey]
}

// NewOpener returns the opener for a ring of opener's keys from Split.
func NewOpener(keys ...[]byte) (*Opener, error) {
	ring, err := keyring.Index(keys, func(b []byte) (keyring.ID, *hpkekeys.PrivateKey, error) {
		private, err := hpkekeys.ParsePrivate(b, label)
		if err != nil {
			return keyring.ID{}, nil, err
		}
		return private.ID, private, nil
	})
	if err != nil {
		return nil, err
	}
	return &Opener{ring}, nil
}

// Unseal implements codecs.Codec.
func (o *Opener) Unseal(dst, token []byte) ([]byte, error) {
	s := base64url.GetScratch()
	defer s.Free()
	if !s.DecodeToken(prefix, token, minRaw) {
		return dst, errMalformed
	}
	id, enc, sealed := s.Bytes[:idSize], s.Bytes[idSize:idSize+hpkekeys.EncSize], s.Bytes[idSize+hpkekeys.EncSize:]
	if !hpkekeys.Canonical(enc) {
		return dst, errNotOneForm
	}
	k := o.ring.Lookup(id)
	if k == nil {
		return dst, errUnknownKey
	}
	ctx, err := k.Key.Decapsulate(enc)
	if err != nil {
		return dst, errLowOrder
	}
	payload, err := ctx.Open(sealed, associatedData(k.ID))
	if err != nil {
		return dst, errUnauthentic
	}
	return append(dst, payload...), nil
}
