package golibs

import (
	"bytes"

	"github.com/gorilla/securecookie"

	"sealab/codecs"
)

var secureCookie = codecs.Design{
	Name:       "securecookie",
	Doc:        "gorilla/securecookie: AES-256-CTR and HMAC-SHA256, bytes as they are",
	Spec:       "github.com/gorilla/securecookie",
	MaxKeys:    1,
	NewCodec:   one(newSecureCookie),
	Guarantees: encrypts,
}

// cookieName is authenticated with every value.
const cookieName = "state"

func newSecureCookie(key []byte) (codec, error) {
	blockKey, err := derive(key, "block key")
	if err != nil {
		return codec{}, err
	}
	cookies := securecookie.New(key, blockKey).MaxAge(0).MaxLength(0).SetSerializer(securecookie.NopEncoder{})
	seal := func(payload []byte) ([]byte, error) {
		if len(payload) == 0 { // the library refuses the token that it makes of it
			return nil, codecs.ErrUnsupported
		}
		// The library encrypts the bytes that it is given in their place.
		token, err := cookies.Encode(cookieName, bytes.Clone(payload))
		return []byte(token), err
	}
	unseal := func(token []byte) ([]byte, error) {
		var payload []byte
		if err := cookies.Decode(cookieName, string(token), &payload); err != nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
	return codec{seal, unseal}, nil
}
