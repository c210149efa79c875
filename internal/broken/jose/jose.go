// Package jose holds the negative controls of JOSE: codecs that misread the header of a signed JSON token.
package jose

import (
	"bytes"
	"compress/flate"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// A jws is a codec of signed JSON tokens (RFC 7515) under the key pair whose seed is the
// secret.
type jws struct {
	private ed25519.PrivateKey
	// also reports whether a token whose header names another algorithm is accepted.
	also func(h jwsHeader, public ed25519.PublicKey, message, tag []byte) bool
	// unfolded converts a token in another serialization to the compact form.
	unfolded func(token []byte) []byte
	// shared says that the private key verifies.
	shared bool
	// published says that the header has the public key, and that the seed is a digest of the secret.
	published bool
	// exported says that the header has the private key too.
	exported bool
	// shown returns the payload to release, given the verified payload.
	shown func(token, payload []byte) []byte
}

type jwsHeader struct {
	Alg string `json:"alg"`
	JWK struct {
		X string `json:"x"`
		Y string `json:"y"`
	} `json:"jwk"`
}

var jwsHead = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA"}`))

// head returns the header of tokens, encoded.
func (j jws) head() string {
	if !j.published {
		return jwsHead
	}
	private, x := "", base64.RawURLEncoding.EncodeToString(j.private.Public().(ed25519.PublicKey))
	if j.exported {
		private = `"d":"` + base64.RawURLEncoding.EncodeToString(j.private.Seed()) + `",`
	}
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","jwk":{"crv":"Ed25519",` + private + `"kty":"OKP","x":"` + x + `"}}`))
}

// keyOf returns the key pair of a secret of 32 bytes.
func (j jws) keyOf(secret []byte) ed25519.PrivateKey {
	if j.published {
		sum := sha256.Sum256(secret)
		return ed25519.NewKeyFromSeed(sum[:])
	}
	return ed25519.NewKeyFromSeed(bytes.Clone(secret))
}

// Seal implements codecs.Codec.
func (j jws) Seal(dst, payload []byte) ([]byte, error) {
	text := j.head() + "." + base64.RawURLEncoding.EncodeToString(payload)
	return append(dst, text+"."+base64.RawURLEncoding.EncodeToString(ed25519.Sign(j.private, []byte(text)))...), nil
}

// Unseal implements codecs.Codec.
func (j jws) Unseal(dst, token []byte) ([]byte, error) {
	parts := strings.Split(string(j.unfolded(token)), ".")
	if len(parts) != 3 {
		return dst, skeleton.ErrMalformed
	}
	head, ok1 := skeleton.DecodeCanonical(parts[0])
	payload, ok2 := skeleton.DecodeCanonical(parts[1])
	tag, ok3 := skeleton.DecodeCanonical(parts[2])
	var h jwsHeader
	if !ok1 || !ok2 || !ok3 || json.Unmarshal(head, &h) != nil {
		return dst, skeleton.ErrMalformed
	}
	message, public := []byte(parts[0]+"."+parts[1]), j.private.Public().(ed25519.PublicKey)
	if own := parts[0] == j.head(); own && ed25519.Verify(public, message, tag) || !own && j.also(h, public, message, tag) {
		return append(dst, j.shown(token, payload)...), nil
	}
	return dst, skeleton.ErrUnauthentic
}

// aJWS returns a control on the skeleton of a signed JSON token.
func aJWS(name, doc string, broken []codecs.Property, attack string, mistake func(*jws)) skeleton.Control {
	parts := jws{
		also:     func(jwsHeader, ed25519.PublicKey, []byte, []byte) bool { return false },
		unfolded: func(token []byte) []byte { return token },
		shown:    func(_, payload []byte) []byte { return payload },
	}
	mistake(&parts)
	return skeleton.NewControl(name, doc, codecs.Design{NewCodec: parts.open, Hooks: &lab.Hooks{Verifying: parts.verifying}},
		codecs.Holds(codecs.Integrity, codecs.SenderAuthenticated, codecs.Total, codecs.ByteExact), broken, []string{attack})
}

// verifying returns the public keys.
func (j jws) verifying(secrets [][]byte) ([][]byte, error) {
	var keys [][]byte
	for _, secret := range secrets {
		if len(secret) != ed25519.SeedSize {
			return nil, errors.New("want secrets of 32 bytes")
		}
		public := j.keyOf(secret).Public().(ed25519.PublicKey)
		if j.shared {
			public = secret
		}
		keys = append(keys, public)
	}
	return keys, nil
}

func (j jws) open(c codecs.Config) (codecs.Codec, error) {
	if len(c.Secrets) != 1 || len(c.Secrets[0]) != ed25519.SeedSize {
		return nil, errors.New("want one secret of 32 bytes")
	}
	j.private = j.keyOf(c.Secrets[0])
	return j, nil
}

// publicAsSecret reports whether a tag is an HMAC under the public key in PEM.
func publicAsSecret(h jwsHeader, public ed25519.PublicKey, message, tag []byte) bool {
	der, err := x509.MarshalPKIXPublicKey(public)
	key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return err == nil && h.Alg == "HS256" && hmac.Equal(skeleton.HMAC(key, message), tag)
}

// Headers returns controls that misread the header of a signed JSON token.
func Headers() []skeleton.Control {
	forged := []codecs.Property{codecs.Integrity}
	return []skeleton.Control{
		aJWS("alg-none", "the header may name no algorithm", forged, "JOS-01", func(j *jws) {
			j.also = func(h jwsHeader, _ ed25519.PublicKey, _, tag []byte) bool { return h.Alg == "none" && len(tag) == 0 }
		}),
		aJWS("public-as-secret", "the header chooses the algorithm that reads the public key", forged, "KEY-01", func(j *jws) { j.also = publicAsSecret }),
		aJWS("header-key-as-secret", "the header holds the public key and chooses the algorithm that reads it", forged, "KEY-01", func(j *jws) {
			j.also, j.published = publicAsSecret, true
		}),
		aJWS("shared-key", "the key with which tokens are verified signs them too", []codecs.Property{codecs.SenderAuthenticated}, "KEY-18", func(j *jws) { j.shared = true }),
		aJWS("key-in-header", "the header carries the key", forged, "JOS-02", func(j *jws) {
			j.also = func(h jwsHeader, _ ed25519.PublicKey, message, tag []byte) bool {
				x, okX := skeleton.DecodeCanonical(h.JWK.X)
				y, okY := skeleton.DecodeCanonical(h.JWK.Y)
				if h.Alg != "ES256" || !okX || !okY || len(tag) != 64 {
					return false
				}
				public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
				sum := sha256.Sum256(message)
				return err == nil && ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(tag[:32]), new(big.Int).SetBytes(tag[32:]))
			}
		}),
		aJWS("edwards-key-in-header", "the header carries the key, of Ed25519", forged, "JOS-02", func(j *jws) {
			j.also = func(h jwsHeader, _ ed25519.PublicKey, message, tag []byte) bool {
				x, ok := skeleton.DecodeCanonical(h.JWK.X)
				return h.Alg == "EdDSA" && ok && len(x) == ed25519.PublicKeySize && ed25519.Verify(x, message, tag)
			}
		}),
		aJWS("private-key-in-header", "the header holds the whole key pair", forged, "JOS-06", func(j *jws) { j.published, j.exported = true, true }),
		aJWS("json-without-header", "the JSON form dies without a protected header", []codecs.Property{codecs.Total}, "JOS-03", func(j *jws) {
			j.unfolded = func(token []byte) []byte {
				var form struct {
					Payload, Signature string
					Protected          *string
				}
				if !bytes.HasPrefix(token, []byte("{")) || json.Unmarshal(token, &form) != nil || form.Signature == "" {
					return token
				}
				_ = *form.Protected
				return nil
			}
		}),
		skeleton.WithClaim(aJWS("zip-in-header", "a payload is decompressed before its tag is checked if the header says so", []codecs.Property{codecs.Inert}, "RES-12", func(j *jws) {
			j.unfolded = func(token []byte) []byte {
				parts := strings.Split(string(token), ".")
				var h struct{ Zip string }
				if head, ok := skeleton.DecodeCanonical(parts[0]); !ok || len(parts) != 3 || json.Unmarshal(head, &h) != nil || h.Zip != "DEF" {
					return token
				}
				packed, _ := skeleton.DecodeCanonical(parts[1])
				if _, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 64<<20)); err != nil {
					return nil
				}
				return token
			}
		}), codecs.Inert),
		aJWS("two-readers", "the tag is read from the JSON form, and the payload from the compact one", forged, "JOS-04", func(j *jws) {
			j.unfolded = func(token []byte) []byte {
				var form struct{ Protected, Payload, Signature string }
				if !bytes.HasPrefix(token, []byte("{")) || json.Unmarshal(token, &form) != nil {
					return token
				}
				return []byte(form.Protected + "." + form.Payload + "." + form.Signature)
			}
			j.shown = func(token, payload []byte) []byte {
				if parts := strings.Split(string(token), "."); len(parts) > 2 {
					if read, ok := skeleton.DecodeCanonical(parts[1]); ok {
						return read
					}
				}
				return payload
			}
		}),
	}
}
