package tokens

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"sealab/fuzz/review/jsondoc"
)

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
