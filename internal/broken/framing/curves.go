package framing

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"math/big"

	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// pointUnbound seals to the public key of the ring's secret. The key of a token depends on the shared
// point alone, and the point on the wire has two encodings.
func pointUnbound(key []byte) skeleton.Pair {
	private, err := ecdh.X25519().NewPrivateKey(key)
	if err != nil {
		panic("broken: " + err.Error()) // a key has 32 bytes
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			fresh, err := ecdh.X25519().NewPrivateKey(skeleton.RandomBytes(32))
			if err != nil {
				panic("broken: " + err.Error()) // a scalar has 32 bytes
			}
			shared, err := fresh.ECDH(private.PublicKey())
			if err != nil {
				panic("broken: " + err.Error()) // the point is valid
			}
			return skeleton.JoinText(fresh.PublicKey().Bytes(), skeleton.NewGCM(shared).Seal(nil, make([]byte, skeleton.GCMNonce), payload, nil))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 2)
			if err != nil {
				return nil, err
			}
			point, err := ecdh.X25519().NewPublicKey(parts[0])
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			shared, err := private.ECDH(point)
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			return skeleton.OpenGCM(shared, make([]byte, skeleton.GCMNonce), parts[1], nil)
		},
	}
}

// ecdsaSignature holds the two integers of an ECDSA signature.
type ecdsaSignature struct{ R, S *big.Int }

func twoSignatures(key []byte) skeleton.Pair {
	scalar := lab.Derive(key, "sealab/flawed ecdsa", 32)
	scalar[0] &= 0x7f // below the order of the group
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		panic("broken: " + err.Error()) // the scalar is in range
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			digest := sha256.Sum256(payload)
			signature, err := private.Sign(nil, digest[:], crypto.SHA256)
			if err != nil {
				panic("broken: " + err.Error()) // signing needs no randomness
			}
			var n ecdsaSignature
			if _, err := asn1.Unmarshal(signature, &n); err != nil {
				panic("broken: " + err.Error()) // the signature was just written
			}
			return skeleton.JoinText(payload, n.R.FillBytes(make([]byte, 32)), n.S.FillBytes(make([]byte, 32)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 3)
			if err != nil || len(parts[1]) != 32 || len(parts[2]) != 32 {
				return nil, skeleton.ErrMalformed
			}
			digest := sha256.Sum256(parts[0])
			n := ecdsaSignature{new(big.Int).SetBytes(parts[1]), new(big.Int).SetBytes(parts[2])}
			return bytes.Clone(parts[0]), skeleton.Authentic(ecdsa.Verify(&private.PublicKey, digest[:], n.R, n.S))
		},
	}
}
