package aesgcm

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/keyring"
	"sealab/internal/wycheproof"
)

// TestSpecification runs test case 16 of the GCM specification that NIST SP
// 800-38D cites (McGrew and Viega, appendix B).
func TestSpecification(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		require.NoError(t, err)
		return b
	}
	gcm, err := keyring.AESGCM(unhex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
	require.NoError(t, err)
	nonce, data := unhex("cafebabefacedbaddecaf888"), unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
	payload := unhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
	const sealed = "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" +
		"76fc6ece0f4e1768cddf8853bb2d551b"
	require.Equal(t, sealed, hex.EncodeToString(gcm.Seal(nil, nonce, payload, data)))
}

// TestWycheproof runs all cases. For nonces of other lengths than the design's
// it uses the block cipher and mode of the standard library directly.
func TestWycheproof(t *testing.T) {
	own := 0
	wycheproof.Run(t, "aes_gcm_test.json", func(g *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		aead, err := keyring.AESGCM(c.Key)
		require.NoError(t, err)
		if len(c.IV) != format.NonceSize {
			aead, err = otherNonceSize(c.Key, len(c.IV))
			if err != nil {
				return wycheproof.Refused
			}
		} else if g.KeySize == 256 {
			own++
		}
		return wycheproof.TryAEAD(aead, c)
	})
	require.NotZero(t, own, "no case has the design's own key and nonce length")
}

func otherNonceSize(key []byte, n int) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithNonceSize(block, n)
}
