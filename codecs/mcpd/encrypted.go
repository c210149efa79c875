package mcpd

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

const (
	encryptedPrefix = "v1e."
	nonceSize       = 12
	tagSize         = 16
)

var encryptedPrefixBytes = []byte(encryptedPrefix)

// encrypted is the mode in which claims are hidden.
type encrypted struct{ cipher.AEAD }

func newEncrypted(secret []byte, _ *mac.Key) (mode, error) {
	block, err := aes.NewCipher(keyring.Derive(secret, aesLabel, keyring.KeySize))
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return encrypted{aead}, nil
}

func (encrypted) seedSize() int { return nonceSize }

// encryptedLayout has the fields after the prefix.
var encryptedLayout = layouts.Layout{lab.WireNonce, lab.WireBody, lab.WireTag}

func (e encrypted) protect(dst, seed, claims, bind []byte, edit lab.Edit) ([]byte, error) {
	nonce := edit.Apply(lab.StepNonce, seed)
	data := edit.Apply(lab.StepAAD, bind)
	if len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	work := base64url.GetScratch()
	defer work.Free()
	work.Grow(len(claims) + tagSize)
	sealed := e.Seal(work.Bytes, nonce, claims, data)
	body, tag := sealed[:len(claims)], sealed[len(claims):]

	return encryptedLayout.Append(dst, edit, encryptedPrefixBytes, nonce, body, tag), nil
}

func (e encrypted) open(room *base64url.Scratch, token, bind []byte, decode decoder) ([]byte, *codecs.RejectError) {
	segment, ok := bytes.CutPrefix(token, encryptedPrefixBytes)
	if !ok {
		return nil, errMalformed
	}
	//mutant:equivalent a text that does not decode leaves no bytes, which are too few
	if !decode(room, segment) || len(room.Bytes) < nonceSize+tagSize {
		return nil, errMalformed
	}
	raw := room.Bytes
	sealed := raw[nonceSize:]
	claims, err := e.Open(sealed[:0], raw[:nonceSize], sealed, bind)
	if err != nil {
		return nil, errSeal
	}
	return claims, nil
}
