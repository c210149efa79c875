package hpkekeys

import (
	"fmt"

	"github.com/cloudflare/circl/kem"

	"sealab/codecs/internal/keyring"
)

// partySize is the length in bytes of an encoded key of one party.
const partySize = len(keyring.ID{}) + 2*keySize

// A PublicKey encapsulates to one ring key.
type PublicKey struct {
	ID     keyring.ID
	kem    *KEM
	label  string
	public kem.PublicKey
	psk    []byte
}

// A PrivateKey opens encapsulations to one ring key.
type PrivateKey struct {
	PublicKey
	private kem.PrivateKey
}

func scheme() kem.Scheme { return X25519.id.Scheme() }

// Derive returns the private key that is derived from a ring key in the design
// with the given label.
func Derive(kem *KEM, key []byte, id keyring.ID, label string) *PrivateKey {
	ikm := keyring.Derive(key, label+" kem", SeedSize)
	defer clear(ikm)
	public, private := kem.id.Scheme().DeriveKeyPair(ikm)
	psk := keyring.Derive(key, label+" psk", keySize)
	return &PrivateKey{PublicKey{id, kem, label, public, psk}, private}
}

// Encode returns the key as partySize bytes: key-id, public key, pre-shared
// key. The bytes are secret, because the pre-shared key authenticates a sender.
func (p *PublicKey) Encode() ([]byte, error) {
	public, err := p.public.MarshalBinary()
	//mutant:equivalent no token carries the keys of one party
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	return encode(p.ID, public, p.psk), nil
}

// Encode returns the key as partySize bytes: key-id, private key, pre-shared
// key.
func (p *PrivateKey) Encode() ([]byte, error) {
	private, err := p.private.MarshalBinary()
	//mutant:equivalent no token carries the keys of one party
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	return encode(p.ID, private, p.psk), nil
}

func encode(id keyring.ID, key, psk []byte) []byte {
	out := make([]byte, 0, partySize)
	out = append(out, id[:]...)
	out = append(out, key...)
	return append(out, psk...)
}

// ParsePublic parses the output of PublicKey.Encode, for the design with the
// given label. It refuses public keys that are not canonical or have a low
// order.
func ParsePublic(b []byte, label string) (*PublicKey, error) {
	id, key, psk, err := decode(b)
	if err != nil {
		return nil, err
	}
	if !Canonical(key) {
		return nil, fmt.Errorf("the public key is not a canonical X25519 public key")
	}
	public, err := scheme().UnmarshalBinaryPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	p := &PublicKey{id, X25519, label, public, psk}
	if _, _, err := p.Encapsulate(make([]byte, SeedSize)); err != nil {
		return nil, fmt.Errorf("the public key has no shared secret with any other: %w", err)
	}
	return p, nil
}

// ParsePrivate parses the output of PrivateKey.Encode, for the design with the
// given label.
func ParsePrivate(b []byte, label string) (*PrivateKey, error) {
	id, key, psk, err := decode(b)
	if err != nil {
		return nil, err
	}
	private, err := scheme().UnmarshalBinaryPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	// The key computes its public half on first use and without a lock. Compute
	// it here, before goroutines share the key.
	return &PrivateKey{PublicKey{id, X25519, label, private.Public(), psk}, private}, nil
}

// decode splits an encoded key. Its results do not share memory with b.
func decode(b []byte) (id keyring.ID, key, psk []byte, err error) {
	if len(b) != partySize {
		return id, nil, nil, fmt.Errorf("the key of a party has %d bytes, want %d", len(b), partySize)
	}
	b = append([]byte(nil), b...)
	n := copy(id[:], b)
	for _, part := range [][]byte{b[n : n+keySize], b[n+keySize:]} {
		if err := keyring.CheckStrength(part); err != nil {
			return id, nil, nil, fmt.Errorf("the key of a party %w", err)
		}
	}
	return id, b[n : n+keySize], b[n+keySize:], nil
}
