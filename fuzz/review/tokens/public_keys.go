package tokens

import (
	"crypto"
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
	"hash"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"sealab/fuzz/review/jsondoc"
)

// A PublicKey is one spelling of a public key that a server shows.
type PublicKey struct {
	Name string // of the spelling
	Text []byte
}

// pemBlock matches a document in PEM (RFC 7468).
var pemBlock = regexp.MustCompile(`-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----\r?\n?`)

// PublicKeysIn returns the usual spellings of the public keys in a text: keys and certificates in
// PEM, and JWKs (RFC 7517). If the text is JSON, it searches all values.
func PublicKeysIn(text string) []PublicKey {
	var all []PublicKey
	var list []json.RawMessage
	var inner string
	raw := json.RawMessage(text)
	members := jsondoc.Members(raw)
	switch {
	case members != nil:
		if key := keyOfJWK(members); key != nil {
			all = append(spellingsOf(key), PublicKey{"the JWK", raw})
		}
		for _, name := range jsondoc.SortedKeys(members) {
			all = append(all, PublicKeysIn(string(members[name]))...)
		}
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list {
			all = append(all, PublicKeysIn(string(item))...)
		}
	case json.Unmarshal(raw, &inner) == nil:
		all = PublicKeysIn(inner)
	default:
		for _, block := range pemBlock.FindAllString(text, -1) {
			if key := keyOfPEM(block); key != nil {
				all = append(spellingsOf(key), PublicKey{"the text", []byte(block)})
			}
		}
	}
	return all
}

// keyOfPEM returns the public key of a key or certificate, or nil.
func keyOfPEM(text string) (key crypto.PublicKey) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	switch block.Type {
	case "PUBLIC KEY":
		key, _ = x509.ParsePKIXPublicKey(block.Bytes) // nil if it is malformed, as below
	case "RSA PUBLIC KEY":
		if k, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
			key = k
		}
	case "CERTIFICATE":
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			key = c.PublicKey
		}
	}
	return key
}

// keyOfJWK returns the public key of a JWK, or nil.
func keyOfJWK(jwk map[string]json.RawMessage) crypto.PublicKey {
	bytesOf := func(name string) []byte {
		text, _ := jsondoc.Text(jwk[name]) // "" if it is not a string
		b, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
		return b
	}
	kind, _ := jsondoc.Text(jwk["kty"]) // "" if it is not a string
	n, e, x, y := bytesOf("n"), bytesOf("e"), bytesOf("x"), bytesOf("y")
	curves := map[int]elliptic.Curve{32: elliptic.P256(), 48: elliptic.P384(), 66: elliptic.P521()}
	switch curve := curves[len(x)]; {
	case kind == "RSA" && len(n) > 0 && len(e) > 0 && len(e) < 5:
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	case kind == "OKP" && len(x) == ed25519.PublicKeySize:
		return ed25519.PublicKey(x)
	case kind == "EC" && curve != nil && len(y) == len(x):
		if key, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y)); err == nil {
			return key
		}
	}
	return nil
}

// spellingsOf returns the texts that a careless reader takes for an HMAC key.
func spellingsOf(key crypto.PublicKey) []PublicKey {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil
	}
	all := append(spellingsInPEM("PUBLIC KEY", der), PublicKey{"DER", der}, PublicKey{"base64", []byte(base64.StdEncoding.EncodeToString(der))})
	switch k := key.(type) {
	case *rsa.PublicKey:
		all = append(all, spellingsInPEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(k))...)
	case ed25519.PublicKey:
		all = append(all, PublicKey{"bytes", k})
	}
	return all
}

// spellingsInPEM returns a document in PEM with usual ends of its lines.
func spellingsInPEM(kind string, der []byte) []PublicKey {
	text := string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	return []PublicKey{{kind, []byte(text)}, {kind + " without its last line end", []byte(strings.TrimSpace(text))},
		{kind + " with CR LF", []byte(strings.ReplaceAll(text, "\n", "\r\n"))}}
}

// Confusions returns JWTs with the content of token whose tag is an HMAC under a public key
// (CVE-2015-9235).
func Confusions(token string, keys []PublicKey) []Variant {
	var all []Variant
	for _, v := range Views(token) {
		if v.Object["alg"] == nil {
			continue
		}
		for alg, sum := range map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New} {
			text := v.Write(token, jsondoc.Object(jsondoc.With(v.Object, "alg", jsondoc.Quote(alg))))
			for i, key := range keys {
				if signed := signedBy(func(text []byte) []byte { return hmacOf(sum, key.Text, text) }, text); signed != "" {
					all = append(all, Variant{Name: fmt.Sprintf("%s under public key %d: %s", alg, i, key.Name), Text: signed})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Variant) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// PublicKeyHeader returns the header of a compact JWE (RFC 7516) whose content key is encrypted for a
// public key, or nil. A header with cty has a nested token, which is signed.
func PublicKeyHeader(token string) map[string]json.RawMessage {
	views := Views(token)
	if strings.Count(token, ".") != 4 || len(views) == 0 || !strings.HasPrefix(token, Segments(token)[0].Text+".") || views[0].Segment != 0 {
		return nil
	}
	header := views[0].Object
	if alg := textOf(header["alg"]); header["enc"] == nil || header["cty"] != nil || !strings.HasPrefix(alg, "RSA") && !strings.HasPrefix(alg, "ECDH-ES") {
		return nil
	}
	return header
}

// textOf returns a text in JSON, or "" for another value.
func textOf(raw json.RawMessage) string {
	text, _ := jsondoc.Text(raw)
	return text
}

// Encrypted returns a compact JWE with a header like another and a content, for a public key in DER. It
// returns "" if the key does not fit the header.
func Encrypted(header map[string]json.RawMessage, der, content []byte) string {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil || !fitsAlgorithm(key, textOf(header["alg"])) {
		return ""
	}
	options := &jose.EncrypterOptions{Compression: jose.CompressionAlgorithm(textOf(header["zip"]))}
	if typ := textOf(header["typ"]); typ != "" {
		options = options.WithType(jose.ContentType(typ))
	}
	to := jose.Recipient{Algorithm: jose.KeyAlgorithm(textOf(header["alg"])), Key: key, KeyID: textOf(header["kid"])}
	encrypter, err := jose.NewEncrypter(jose.ContentEncryption(textOf(header["enc"])), to, options)
	if err != nil {
		return ""
	}
	object, err := encrypter.Encrypt(content)
	if err != nil {
		return ""
	}
	text, _ := object.CompactSerialize() // it has one recipient
	return text
}

// fitsAlgorithm reports whether a key is of the kind that an algorithm needs.
func fitsAlgorithm(key crypto.PublicKey, alg string) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RSA")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(alg, "ECDH-ES")
	}
	return false
}

// OwnKeyLike returns a key of the same kind as a public key, whose private key the server does not have, or nil.
// Keys are in DER.
func OwnKeyLike(der []byte) []byte {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil
	}
	for _, p := range ownPairs() {
		own := keyOfJWK(p.public)
		_, one := key.(*rsa.PublicKey)
		_, two := own.(*rsa.PublicKey)
		if one == two && (one || p.alg == "ES256") {
			raw, _ := x509.MarshalPKIXPublicKey(own) // of a valid key
			return raw
		}
	}
	return nil
}

// MembersIn returns the names of members of JSON documents at every depth, with the texts that describe
// them, or "".
func MembersIn(document string) map[string]string {
	all := map[string]string{}
	var collect func(raw json.RawMessage)
	collect = func(raw json.RawMessage) {
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // empty if it is of another type
		for _, item := range list {
			collect(item)
		}
		if text := textOf(raw); strings.HasPrefix(text, "{") {
			collect(json.RawMessage(text))
		}
		for name, v := range jsondoc.Members(raw) {
			all[name] = textOf(v)
			collect(v)
		}
	}
	collect(json.RawMessage(document))
	return all
}
