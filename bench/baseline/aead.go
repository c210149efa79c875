package baseline

import (
	"crypto/aes"
	"crypto/cipher"

	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/codecs/keyring"
)

// sealed is base64url(nonce || ciphertext || tag).
type sealed struct {
	cipher.AEAD
	raw []byte
}

func openGCM(key []byte) (codecs.Codec, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &sealed{AEAD: gcm}, nil
}

func openXChaCha(key []byte) (codecs.Codec, error) {
	x, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	return &sealed{AEAD: x}, nil
}

func (s *sealed) Seal(dst, payload []byte) ([]byte, error) {
	n := s.NonceSize()
	if all := n + len(payload) + s.Overhead(); cap(s.raw) < all {
		s.raw = room(all)
	}
	s.raw = s.raw[:n]
	keyring.Random(s.raw)
	s.raw = s.AEAD.Seal(s.raw, s.raw, payload, nil)
	return appendText(dst, s.raw), nil
}

func (s *sealed) Unseal(dst, token []byte) ([]byte, error) {
	var err error
	n := s.NonceSize()
	if s.raw, err = appendBytes(s.raw[:0], token); err != nil || len(s.raw) < n {
		return dst, errRefused
	}
	out, err := s.Open(dst, s.raw[:n], s.raw[n:], nil)
	if err != nil {
		return dst, errRefused
	}
	return out, nil
}
