package golibs

import (
	"github.com/go-jose/go-jose/v4"

	"sealab/codecs"
)

var goJose = codecs.Design{
	Name:       "go-jose-jwe",
	Doc:        "go-jose: JWE, compact, direct key, A256GCM",
	Spec:       "github.com/go-jose/go-jose/v4; RFC 7516",
	MaxKeys:    1,
	NewCodec:   one(newGoJose),
	Guarantees: encrypts,
}

func newGoJose(key []byte) (codec, error) {
	encrypter, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, nil)
	if err != nil {
		return codec{}, err
	}
	seal := func(payload []byte) ([]byte, error) {
		sealed, err := encrypter.Encrypt(payload)
		if err != nil {
			return nil, err
		}
		token, err := sealed.CompactSerialize()
		return []byte(token), err
	}
	unseal := func(token []byte) ([]byte, error) {
		sealed, err := jose.ParseEncryptedCompact(string(token),
			[]jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
		if err != nil {
			return nil, errMalformed
		}
		payload, err := sealed.Decrypt(key)
		if err != nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
	return codec{seal, unseal}, nil
}
