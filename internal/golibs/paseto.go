package golibs

import (
	"unicode/utf8"

	"aidanwoods.dev/go-paseto"

	"sealab/codecs"
)

var pasetoPeer = codecs.Design{
	Name:       "paseto-v4-local",
	Doc:        "PASETO v4.local: XChaCha20 and keyed BLAKE2b, the payload as one claim",
	Spec:       "aidanwoods.dev/go-paseto",
	MaxKeys:    1,
	NewCodec:   one(newPaseto),
	Guarantees: encrypts,
}

// stateClaim is the claim that carries the payload in formats of JSON claims.
const stateClaim = "s"

func newPaseto(key []byte) (codec, error) {
	k, err := paseto.V4SymmetricKeyFromBytes(key)
	if err != nil {
		return codec{}, err
	}
	seal := func(payload []byte) ([]byte, error) {
		if !utf8.Valid(payload) {
			return nil, codecs.ErrUnsupported
		}
		token := paseto.NewToken()
		token.SetString(stateClaim, string(payload))
		return []byte(token.V4Encrypt(k, nil)), nil
	}
	unseal := func(text []byte) ([]byte, error) {
		token, err := paseto.NewParserWithoutExpiryCheck().ParseV4Local(k, string(text), nil)
		if err != nil {
			return nil, errUnauthentic
		}
		payload, err := token.GetString(stateClaim)
		if err != nil {
			return nil, errMalformed
		}
		return []byte(payload), nil
	}
	return codec{seal, unseal}, nil
}
