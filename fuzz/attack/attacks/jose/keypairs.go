package jose

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/ssh"

	"sealab/fuzz/attack/tokenfmt"
)

// A keyPair is the key pair that a worker of signed tokens derives from a secret of 32 bytes.
// The protocol transmits only secrets, so attacker and server derive the pair in the same way:
//
//	EdDSA  the secret is the seed of Ed25519 (RFC 8032)
//	ES256  the scalar of P-256 is 1 + secret mod (n-1), the secret read as a big-endian number
//	RS256  RSA with 1024 bits and e = 65537: p and q are the next primes from
//	       SHA-512(secret || "p") and SHA-512(secret || "q") on, with the two highest
//	       bits and the lowest bit set
type keyPair struct {
	public any
	jwks   []string // encodings of the public key as a JWK
	verify func(message, tag []byte) bool
	sign   func(message []byte) []byte // nil for RS256
}

// pairOf returns the key pair of a secret for an algorithm of RFC 7518 or RFC 8037.
func pairOf(algorithm string, secret []byte) (keyPair, bool) {
	if len(secret) != 32 {
		return keyPair{}, false
	}
	text := base64.RawURLEncoding.EncodeToString
	switch algorithm {
	case "EdDSA":
		private := ed25519.NewKeyFromSeed(secret)
		public := private.Public().(ed25519.PublicKey)
		x := text(public)
		return keyPair{public: public, jwks: []string{
			fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":"%s"}`, x), fmt.Sprintf(`{"crv":"Ed25519","kty":"OKP","x":"%s"}`, x),
		}, verify: func(message, tag []byte) bool { return ed25519.Verify(public, message, tag) },
			sign: func(message []byte) []byte { return ed25519.Sign(private, message) }}, true
	case "ES256":
		return p256Pair(secret)
	case "RS256":
		public := &rsa.PublicKey{N: new(big.Int).Mul(primeOf(secret, "p"), primeOf(secret, "q")), E: 65537}
		return keyPair{public: public, jwks: []string{fmt.Sprintf(`{"kty":"RSA","n":"%s","e":"AQAB"}`, text(public.N.Bytes()))}, verify: rs256(public)}, true
	}
	return keyPair{}, false
}

// publicIn returns the public key that the jwk of a header holds, Ed25519 (RFC 8037) or P-256 (RFC
// 7518), or false.
func publicIn(header map[string]any) (keyPair, bool) {
	jwk, _ := header["jwk"].(map[string]any)
	part := func(name string) []byte {
		text, _ := jwk[name].(string)
		raw, _ := base64.RawURLEncoding.DecodeString(text) // no key has no length
		return raw
	}
	x, y := part("x"), part("y")
	if len(x) == ed25519.PublicKeySize && jwk["crv"] == "Ed25519" {
		return keyPair{public: ed25519.PublicKey(x)}, true
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	return keyPair{public: public}, err == nil
}

// privateIn returns the signing function of the private key that the jwk of a header holds, Ed25519
// or P-256, or false.
func privateIn(header map[string]any) (sign func(message []byte) []byte, ok bool) {
	jwk, _ := header["jwk"].(map[string]any)
	text, _ := jwk["d"].(string)
	d, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(d) != 32 {
		return nil, false
	}
	if jwk["crv"] == "Ed25519" {
		pair, ok := pairOf("EdDSA", d)
		return pair.sign, ok
	}
	pair, ok := p256Of(d)
	return pair.sign, ok
}

// p256Pair returns the key pair that a worker derives from a secret.
func p256Pair(secret []byte) (keyPair, bool) {
	order := elliptic.P256().Params().N
	d := new(big.Int).SetBytes(secret)
	d.Mod(d, new(big.Int).Sub(order, big.NewInt(1))).Add(d, big.NewInt(1))
	return p256Of(d.FillBytes(make([]byte, 32)))
}

// p256Of returns the key pair of a scalar of 32 bytes.
func p256Of(d []byte) (keyPair, bool) {
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
	if err != nil {
		return keyPair{}, false
	}
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return keyPair{}, false
	}
	text := base64.RawURLEncoding.EncodeToString
	return keyPair{
		public: &private.PublicKey,
		jwks:   []string{fmt.Sprintf(`{"kty":"EC","crv":"P-256","x":"%s","y":"%s"}`, text(point[1:33]), text(point[33:]))},
		verify: func(message, tag []byte) bool {
			sum := sha256.Sum256(message)
			return len(tag) == 64 && ecdsa.Verify(&private.PublicKey, sum[:], new(big.Int).SetBytes(tag[:32]), new(big.Int).SetBytes(tag[32:]))
		},
		sign: func(message []byte) []byte { return tokenfmt.SignES256(private, message) },
	}, true
}

// primeOf returns the first prime at or after a digest of the secret.
func primeOf(secret []byte, name string) *big.Int {
	sum := sha512.Sum512(append(append([]byte{}, secret...), name...))
	sum[0] |= 0xc0
	sum[63] |= 1
	p := new(big.Int).SetBytes(sum[:])
	for !p.ProbablyPrime(20) {
		p.Add(p, big.NewInt(2))
	}
	return p
}

// rs256 returns a verifier for RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, section 8.2.2).
// crypto/rsa refuses keys of 1024 bits, so it is written here.
func rs256(public *rsa.PublicKey) func(message, tag []byte) bool {
	prefix := []byte{0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20}
	return func(message, tag []byte) bool {
		sum := sha256.Sum256(message)
		opened := new(big.Int).Exp(new(big.Int).SetBytes(tag), big.NewInt(int64(public.E)), public.N).Bytes()
		n := len(opened) - sha256.Size - len(prefix)
		return n > 0 && string(opened[n:]) == string(prefix)+string(sum[:])
	}
}

// texts returns the encodings in which a server may hold the public key.
func (p keyPair) texts() []string {
	var all []string
	if der, err := x509.MarshalPKIXPublicKey(p.public); err == nil {
		all = append(all, pemForms("PUBLIC KEY", der)...)
	}
	if key, ok := p.public.(*rsa.PublicKey); ok {
		all = append(all, pemForms("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(key))...)
	}
	if key, err := ssh.NewPublicKey(p.public); err == nil {
		line := string(ssh.MarshalAuthorizedKey(key))
		all = append(all, line, line[:len(line)-1])
	}
	return append(all, p.jwks...)
}

// pemForms returns PEM with and without surrounding white space.
func pemForms(kind string, der []byte) []string {
	text := string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	return []string{text, text[:len(text)-1], "\n" + text, " " + text}
}

// algorithmOf returns the algorithm that a header names, or "" if it is not a header.
func algorithmOf(header []byte) string {
	var h struct {
		Alg string `json:"alg"`
	}
	if json.Unmarshal(header, &h) != nil {
		return ""
	}
	return h.Alg
}
