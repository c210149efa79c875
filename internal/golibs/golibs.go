// Package golibs presents Go token libraries as designs, so that the instruments measure and attack them
// beside the designs of this module.
//
// Each adapter is as thin as possible and uses its library as the library's documentation shows. Its
// AES-256 or HMAC-SHA256 key is derived from the secret with HKDF-SHA256. A format of JSON claims carries
// the payload as one string claim, so a payload that is not valid UTF-8 is codecs.ErrUnsupported. Expiry
// is disabled, because a library is a codec here.
//
// An adapter claims only integrity, and confidentiality if its library encrypts. The instruments observe
// every other property. The libraries allocate, and accept a ring of one key.
package golibs

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"slices"

	"sealab/codecs"
)

// All returns a row for every library.
func All() []codecs.Design {
	return []codecs.Design{
		goJose, jwxEncrypted, tinkLibrary, pasetoLibrary, fernetLibrary, secureCookie, // they encrypt
		golangJWT, jwxSigned, // they sign
	}
}

var (
	goJose        = row("go-jose-jwe", "go-jose: JWE, compact, direct key, A256GCM", "github.com/go-jose/go-jose/v4; RFC 7516", newGoJose, encrypts)
	jwxEncrypted  = row("jwx-jwe", "jwx: JWE, compact, direct key, A256GCM", "github.com/lestrrat-go/jwx/v3; RFC 7516", newJWXEncrypted, encrypts)
	tinkLibrary   = row("tink-aead", "Tink: AES256-GCM with the TINK prefix, in base64url", "github.com/tink-crypto/tink-go/v2", newTink, encrypts)
	pasetoLibrary = row("paseto-v4-local", "PASETO v4.local: XChaCha20 and keyed BLAKE2b, the payload as one claim", "aidanwoods.dev/go-paseto", newPaseto, encrypts)
	fernetLibrary = row("fernet", "Fernet: AES-128-CBC and HMAC-SHA256", "github.com/fernet/fernet-go", newFernet, encrypts)
	secureCookie  = row("securecookie", "gorilla/securecookie: AES-256-CTR and HMAC-SHA256, bytes as they are", "github.com/gorilla/securecookie", newSecureCookie, encrypts)
	golangJWT     = row("golang-jwt", "golang-jwt: JWT, HS256, the payload as one claim", "github.com/golang-jwt/jwt/v5; RFC 7519", newGolangJWT, signs)
	jwxSigned     = row("jwx-jws", "jwx: JWS, compact, HS256", "github.com/lestrrat-go/jwx/v3; RFC 7515", newJWXSigned, signs)
)

func row(name, doc, spec string, setup func(key []byte) (codec, error), guarantees []codecs.Guarantee) codecs.Design {
	return codecs.Design{Name: name, Doc: doc, Spec: spec, MaxKeys: 1, NewCodec: one(setup), Guarantees: codecs.Always(guarantees)}
}

// The refusals. If a library does not distinguish malformed from unauthentic tokens, the adapter returns
// unauthentic.
var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "unauthentic")
)

// The guarantees of the rows.
var (
	encrypts = codecs.Holds(codecs.Integrity, codecs.Confidentiality)
	signs    = slices.Concat(codecs.Holds(codecs.Integrity),
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable"))
)

// codec wraps a library that converts a whole payload to a token and back.
type codec struct {
	seal   func(payload []byte) ([]byte, error)
	unseal func(token []byte) ([]byte, error) // fails with a *codecs.RejectError
}

// Seal implements codecs.Codec.
func (c codec) Seal(dst, payload []byte) ([]byte, error) {
	token, err := c.seal(payload)
	if err != nil {
		return dst, err
	}
	return append(dst, token...), nil
}

// Unseal implements codecs.Codec.
func (c codec) Unseal(dst, token []byte) ([]byte, error) {
	payload, err := c.unseal(token)
	if err != nil {
		return dst, err
	}
	return append(dst, payload...), nil
}

// refusing returns open with every error replaced by a refusal.
func refusing(open func(token []byte) ([]byte, error)) func(token []byte) ([]byte, error) {
	return func(token []byte) ([]byte, error) {
		payload, err := open(token)
		if err != nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
}

// one sets up a library with the key derived from the only secret of a ring.
func one(setup func(key []byte) (codec, error)) func(codecs.Config) (codecs.Codec, error) {
	return func(c codecs.Config) (codecs.Codec, error) {
		if len(c.Secrets) != 1 {
			return nil, fmt.Errorf("a Go library takes one secret, got %d", len(c.Secrets))
		}
		if n := len(c.Secrets[0]); n < codecs.MinSecret {
			return nil, fmt.Errorf("the secret must have at least %d bytes and has %d", codecs.MinSecret, n)
		}
		key, err := derive(c.Secrets[0], "key")
		if err != nil {
			return nil, err
		}
		return setup(key)
	}
}

// derive returns 32 bytes derived from secret under label.
func derive(secret []byte, label string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "sealab/peer "+label, 32)
}
