package golibs

import (
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwe"
	"github.com/lestrrat-go/jwx/v3/jws"

	"sealab/codecs"
)

var jwxEncrypted = codecs.Design{
	Name:       "jwx-jwe",
	Doc:        "jwx: JWE, compact, direct key, A256GCM",
	Spec:       "github.com/lestrrat-go/jwx/v3; RFC 7516",
	MaxKeys:    1,
	NewCodec:   one(newJWXEncrypted),
	Guarantees: encrypts,
}

var jwxSigned = codecs.Design{
	Name:       "jwx-jws",
	Doc:        "jwx: JWS, compact, HS256",
	Spec:       "github.com/lestrrat-go/jwx/v3; RFC 7515",
	MaxKeys:    1,
	NewCodec:   one(newJWXSigned),
	Guarantees: signs,
}

func newJWXEncrypted(key []byte) (codec, error) {
	withKey := jwe.WithKey(jwa.DIRECT(), key)
	seal := func(payload []byte) ([]byte, error) {
		if len(payload) == 0 { // the library refuses the token that it makes of it
			return nil, codecs.ErrUnsupported
		}
		return jwe.Encrypt(payload, withKey, jwe.WithContentEncryption(jwa.A256GCM()))
	}
	unseal := func(token []byte) ([]byte, error) {
		payload, err := jwe.Decrypt(token, withKey)
		if err != nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
	return codec{seal, unseal}, nil
}

func newJWXSigned(key []byte) (codec, error) {
	withKey := jws.WithKey(jwa.HS256(), key)
	seal := func(payload []byte) ([]byte, error) { return jws.Sign(payload, withKey) }
	unseal := func(token []byte) ([]byte, error) {
		payload, err := jws.Verify(token, withKey)
		if err != nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
	return codec{seal, unseal}, nil
}
