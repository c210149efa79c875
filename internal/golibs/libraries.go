package golibs

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"unicode/utf8"

	"aidanwoods.dev/go-paseto"
	"github.com/fernet/fernet-go"
	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/securecookie"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwe"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"

	"sealab/codecs"
)

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

func newJWXEncrypted(key []byte) (codec, error) {
	withKey := jwe.WithKey(jwa.DIRECT(), key)
	seal := func(payload []byte) ([]byte, error) {
		if len(payload) == 0 { // the library refuses its own token of an empty payload
			return nil, codecs.ErrUnsupported
		}
		return jwe.Encrypt(payload, withKey, jwe.WithContentEncryption(jwa.A256GCM()))
	}
	unseal := func(token []byte) ([]byte, error) { return jwe.Decrypt(token, withKey) }
	return codec{seal, refusing(unseal)}, nil
}

func newJWXSigned(key []byte) (codec, error) {
	withKey := jws.WithKey(jwa.HS256(), key)
	seal := func(payload []byte) ([]byte, error) { return jws.Sign(payload, withKey) }
	unseal := func(token []byte) ([]byte, error) { return jws.Verify(token, withKey, jws.WithCompact()) }
	return codec{seal, refusing(unseal)}, nil
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

// tinkAEAD returns the AEAD of a keyset with key as its only key. The key ID is derived from the key.
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

// stateClaim is the claim that carries the payload in JSON formats.
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

// cookieName is the name that is authenticated with every value.
const cookieName = "state"

func newSecureCookie(key []byte) (codec, error) {
	blockKey, err := derive(key, "block key")
	if err != nil {
		return codec{}, err
	}
	cookies := securecookie.New(key, blockKey).MaxAge(0).MaxLength(0).SetSerializer(securecookie.NopEncoder{})
	seal := func(payload []byte) ([]byte, error) {
		if len(payload) == 0 { // the library refuses its own token of an empty payload
			return nil, codecs.ErrUnsupported
		}
		// The library encrypts in place.
		token, err := cookies.Encode(cookieName, bytes.Clone(payload))
		return []byte(token), err
	}
	unseal := func(token []byte) (payload []byte, err error) {
		err = cookies.Decode(cookieName, string(token), &payload)
		return payload, err
	}
	return codec{seal, refusing(unseal)}, nil
}

// stateClaims are the claims of a token: the payload without dates.
type stateClaims struct {
	State string `json:"s"`
	jwt.RegisteredClaims
}

func newGolangJWT(key []byte) (codec, error) {
	seal := func(payload []byte) ([]byte, error) {
		if !utf8.Valid(payload) {
			return nil, codecs.ErrUnsupported
		}
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, stateClaims{State: string(payload)})
		text, err := token.SignedString(key)
		return []byte(text), err
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}))
	keyOf := func(*jwt.Token) (any, error) { return key, nil }
	unseal := func(text []byte) ([]byte, error) {
		var claims stateClaims
		if _, err := parser.ParseWithClaims(string(text), &claims, keyOf); err != nil {
			return nil, errUnauthentic
		}
		return []byte(claims.State), nil
	}
	return codec{seal, unseal}, nil
}
