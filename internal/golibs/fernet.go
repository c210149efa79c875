package golibs

import (
	"github.com/fernet/fernet-go"

	"sealab/codecs"
)

var fernetPeer = codecs.Design{
	Name:       "fernet",
	Doc:        "Fernet: AES-128-CBC and HMAC-SHA256",
	Spec:       "github.com/fernet/fernet-go",
	MaxKeys:    1,
	NewCodec:   one(newFernet),
	Guarantees: encrypts,
}

func newFernet(key []byte) (codec, error) {
	k := fernet.Key(key)
	keys := []*fernet.Key{&k}
	seal := func(payload []byte) ([]byte, error) { return fernet.EncryptAndSign(payload, &k) }
	unseal := func(token []byte) ([]byte, error) {
		payload := fernet.VerifyAndDecrypt(token, 0, keys)
		if payload == nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
	return codec{seal, unseal}, nil
}
