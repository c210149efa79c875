package tokens

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"sealab/fuzz/attack/tokenfmt"
	"sealab/fuzz/review/jsondoc"
)

// An ownPair is a key pair for signatures of JWTs (RFC 7515, RFC 7517).
type ownPair struct {
	alg         string
	public      map[string]json.RawMessage // members of the JWK
	certificate []byte                     // self-signed, DER
	sign        func(text []byte) []byte
}

// ownPairs returns key pairs of the usual algorithms. An algorithm whose key or certificate cannot
// be made is left out.
var ownPairs = sync.OnceValue(func() []ownPair {
	seed := sha256.Sum256([]byte("sealab"))
	var all []ownPair
	add := func(alg string, key crypto.Signer, sign func([]byte) []byte, members ...string) {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0)}
		der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
		if err != nil {
			return
		}
		public := map[string]json.RawMessage{}
		for i := 0; i < len(members); i += 2 {
			public[members[i]] = jsondoc.Quote(members[i+1])
		}
		all = append(all, ownPair{alg, public, der, sign})
	}
	coded := base64.RawURLEncoding.EncodeToString
	edwards := ed25519.NewKeyFromSeed(seed[:])
	add("EdDSA", edwards, func(text []byte) []byte { return ed25519.Sign(edwards, text) },
		"kty", "OKP", "crv", "Ed25519", "x", coded(edwards.Public().(ed25519.PublicKey)))
	if curve, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:]); err == nil {
		point, _ := curve.PublicKey.Bytes() // of a valid key: 4, x and y
		add("ES256", curve, func(text []byte) []byte { return tokenfmt.SignES256(curve, text) },
			"kty", "EC", "crv", "P-256", "x", coded(point[1:33]), "y", coded(point[33:]))
	}
	if key, err := rsa.GenerateKey(nil, 2048); err == nil { // Go reads its own random source
		add("RS256", key, func(text []byte) []byte {
			sum := sha256.Sum256(text)
			signature, _ := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:]) // the key is long enough
			return signature
		}, "kty", "RSA", "n", coded(key.N.Bytes()), "e", "AQAB")
	}
	return all
})

// ownPairsInHeader adds JWTs that are signed under a public key in their own header: as jwk or as
// x5c, with and without the ID of the server's key.
func ownPairsInHeader(add func(name, text string), token string, header View) {
	for _, p := range ownPairs() {
		for _, kid := range []bool{true, false} {
			if !kid && header.Object["kid"] == nil {
				continue
			}
			headers := p.inHeader(header.Object)
			for _, place := range jsondoc.SortedKeys(headers) {
				members := headers[place]
				name := fmt.Sprintf("an own key for %s in %s", p.alg, place)
				if !kid {
					name, members = name+" without kid", jsondoc.Without(members, "kid")
				}
				add(name, signedBy(p.sign, header.Write(token, jsondoc.Object(members))))
			}
		}
	}
}

// inHeader returns headers that contain the public key, by the member that contains it. Other
// members remain.
func (p ownPair) inHeader(header map[string]json.RawMessage) map[string]map[string]json.RawMessage {
	rest := jsondoc.With(header, "alg", jsondoc.Quote(p.alg))
	jwk := jsondoc.Merged(jsondoc.Object(p.public), rest["jwk"])
	chain := json.RawMessage(`["` + base64.StdEncoding.EncodeToString(p.certificate) + `"]`)
	return map[string]map[string]json.RawMessage{
		"jwk": jsondoc.With(rest, "jwk", jwk),
		"x5c": jsondoc.With(jsondoc.Without(rest, "jwk"), "x5c", chain),
	}
}

// signedBy returns a token whose last segment is replaced by its signature, or "".
func signedBy(sign func(text []byte) []byte, token string) string {
	segments := Segments(token)
	last := len(segments) - 1
	if !segments[last].coded {
		return ""
	}
	return Replaced(segments, last, segments[last].Write(sign([]byte(strings.TrimRight(Replaced(segments, last, ""), separators)))))
}
