package skeleton

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"slices"
)

// OpenGCM decrypts with AES-GCM. It returns the refusal to report.
func OpenGCM(key, nonce, sealed, data []byte) ([]byte, error) {
	plaintext, err := NewGCM(key).Open(nil, nonce, sealed, data)
	if err != nil {
		return nil, ErrUnauthentic
	}
	return plaintext, nil
}

// NewGCM returns AES-GCM under a derived key.
func NewGCM(key []byte) cipher.AEAD {
	a, err := cipher.NewGCM(AESBlock(key))
	if err != nil {
		panic("broken: " + err.Error()) // GCM takes the block size of AES
	}
	return a
}

// AESBlock returns AES under a derived key.
func AESBlock(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic("broken: " + err.Error()) // derived keys have 32 bytes
	}
	return b
}

// CryptCTR encrypts and decrypts with AES-CTR.
func CryptCTR(key, iv, text []byte) []byte {
	out := make([]byte, len(text))
	cipher.NewCTR(AESBlock(key), iv).XORKeyStream(out, text)
	return out
}

// SealCBC encrypts with AES-CBC and PKCS #7 padding.
func SealCBC(key, iv, text []byte) []byte {
	padded := PadWithLength(text)
	cipher.NewCBCEncrypter(AESBlock(key), iv).CryptBlocks(padded, padded)
	return padded
}

// PadWithLength pads as PKCS #7 does.
func PadWithLength(text []byte) []byte {
	n := 16 - len(text)%16
	return slices.Concat(text, bytes.Repeat([]byte{byte(n)}, n))
}
