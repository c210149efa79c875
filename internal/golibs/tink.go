package golibs

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"

	"sealab/codecs"
)

var tinkPeer = codecs.Design{
	Name:       "tink-aead",
	Doc:        "Tink: AES256-GCM with the TINK prefix, in base64url",
	Spec:       "github.com/tink-crypto/tink-go/v2",
	MaxKeys:    1,
	NewCodec:   one(newTink),
	Guarantees: encrypts,
}

func newTink(key []byte) (codec, error) {
	a, err := tinkAEAD(key)
	if err != nil {
		return codec{}, err
	}
	encoding := base64.RawURLEncoding.Strict()
	seal := func(payload []byte) ([]byte, error) {
		sealed, err := a.Encrypt(payload, nil)
		if err != nil {
			return nil, err
		}
		return encoding.AppendEncode(nil, sealed), nil
	}
	unseal := func(token []byte) ([]byte, error) {
		sealed, err := encoding.AppendDecode(nil, token)
		if err != nil {
			return nil, errMalformed
		}
		payload, err := a.Decrypt(sealed, nil)
		if err != nil {
			return nil, errUnauthentic
		}
		return payload, nil
	}
	return codec{seal, unseal}, nil
}

// tinkAEAD returns the AEAD of a keyset that holds key alone, with a key id
// that follows from the key.
func tinkAEAD(key []byte) (tink.AEAD, error) {
	parameters, err := aesgcm.NewParameters(aesgcm.ParametersOpts{
		KeySizeInBytes: len(key), IVSizeInBytes: 12, TagSizeInBytes: 16, Variant: aesgcm.VariantTink,
	})
	if err != nil {
		return nil, err
	}
	id, err := derive(key, "key-id")
	if err != nil {
		return nil, err
	}
	secret := secretdata.NewBytesFromData(key, insecuresecretdataaccess.Token{})
	k, err := aesgcm.NewKey(secret, binary.BigEndian.Uint32(id)|1, parameters)
	if err != nil {
		return nil, err
	}
	manager := keyset.NewManager()
	number, err := manager.AddKey(k)
	if err != nil {
		return nil, err
	}
	if err := manager.SetPrimary(number); err != nil {
		return nil, err
	}
	handle, err := manager.Handle()
	if err != nil {
		return nil, err
	}
	return aead.New(handle)
}
