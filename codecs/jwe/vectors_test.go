package jwe

import (
	"bytes"
	"encoding/base64"
	"testing"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
	"sealab/internal/wycheproof"
)

// TestWycheproof includes the example of RFC 7518, appendix B.1.
func TestWycheproof(t *testing.T) {
	n := wycheproof.RunAEAD(t, "a128cbc_hs256_test.json", newCBC)
	require.NotZero(t, n)
}

// TestJose opens tokens of go-jose, which have more header parameters, and the
// reverse.
func TestJose(t *testing.T) {
	key := []byte("thirty-two bytes for tests only!")
	for design, enc := range map[*codecs.Design]jose.ContentEncryption{&GCM: jose.A256GCM, &CBC: jose.A128CBC_HS256} {
		codec, err := design.OpenCodec(codecs.Config{Secrets: [][]byte{key}})
		require.NoError(t, err)
		options := new(jose.EncrypterOptions).WithType("JWT").WithHeader("kid", "k1")
		theirs, err := jose.NewEncrypter(enc, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, options)
		require.NoError(t, err)
		for n := range 40 {
			payload := bytes.Repeat([]byte("p"), n)
			object, err := theirs.Encrypt(payload)
			require.NoError(t, err)
			token, err := object.CompactSerialize()
			require.NoError(t, err)
			got, err := codec.Unseal(nil, []byte(token))
			require.NoError(t, err)
			require.True(t, bytes.Equal(payload, got))

			own, err := codec.Seal(nil, payload)
			require.NoError(t, err)
			object, err = jose.ParseEncryptedCompact(string(own), []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{enc})
			require.NoError(t, err)
			got, err = object.Decrypt(key)
			require.NoError(t, err)
			require.True(t, bytes.Equal(payload, got))
		}
	}
}

// TestHeaders seals tokens under headers that must be refused although
// authentic.
func TestHeaders(t *testing.T) {
	key := []byte("thirty-two bytes for tests only!")
	f := &format{encryption: a256GCM}
	var err error
	f.aead, err = keyring.AESGCM(key)
	require.NoError(t, err)
	for header, accepted := range map[string]bool{
		`{"alg":"dir","enc":"A256GCM"}`:              true,
		`{"enc":"A256GCM","alg":"dir","kid":"x"}`:    true,
		`{"alg":"dir","enc":"A128GCM"}`:              false,
		`{"alg":"A256KW","enc":"A256GCM"}`:           false,
		`{"alg":"dir","enc":"A256GCM","zip":"DEF"}`:  false,
		`{"alg":"dir","enc":"A256GCM","crit":["x"]}`: false,
		`{"alg":"dir","alg":"dir","enc":"A256GCM"}`:  false,
		`{"alg":["dir"],"enc":"A256GCM"}`:            false,
		`{"enc":"A256GCM"}`:                          false,
		`[]`:                                         false,
		`{"alg":"dir","enc":"A256GCM"`:               false,
	} {
		token, err := f.Mint(nil, make([]byte, 12), []byte("x"), nil, func(step lab.Step, value []byte) []byte {
			if step == lab.StepPrefix {
				return []byte(base64.RawURLEncoding.EncodeToString([]byte(header)) + "..")
			}
			return value
		})
		require.NoError(t, err)
		_, err = f.Open(nil, token, nil)
		require.Equal(t, accepted, err == nil, header)
	}
}
