package mcpd

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"

	"sealab/codecs"
	"sealab/codecs/b64"
	"sealab/codecs/keyring"
)

const (
	encryptedPrefix = "v1e."
	nonceSize       = 12
	tagSize         = 16
)

// encrypted is the mode in which claims are hidden.
type encrypted struct{ cipher.AEAD }

func newEncrypted(secret []byte, _ *macs) (mode, error) {
	block, err := aes.NewCipher(keyring.Derive(secret, aesLabel, keyring.KeySize))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return encrypted{aead}, nil
}

func (encrypted) seedSize() int { return nonceSize }

func (e encrypted) protect(dst, seed, claims, bind []byte, edit codecs.Edit) ([]byte, error) {
	nonce := edit(codecs.StepNonce, bytes.Clone(seed))
	data := edit(codecs.StepAAD, bytes.Clone(bind))
	if len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := e.Seal(nil, nonce, claims, data)
	body, tag := sealed[:len(claims)], sealed[len(claims):]

	dst = append(dst, edit(codecs.WirePrefix, []byte(encryptedPrefix))...)
	raw := edit(codecs.WireNonce, bytes.Clone(nonce))
	raw = append(raw, edit(codecs.WireBody, bytes.Clone(body))...)
	raw = append(raw, edit(codecs.WireTag, bytes.Clone(tag))...)
	return append(dst, edit(codecs.WireText, b64.AppendEncode(nil, raw))...), nil
}

func (e encrypted) open(token, bind []byte, decode decoder) ([]byte, *codecs.RejectError) {
	segment, ok := bytes.CutPrefix(token, []byte(encryptedPrefix))
	if !ok {
		return nil, errMalformed
	}
	raw, decoded := decode(segment)
	if !decoded || len(raw) < nonceSize+tagSize {
		return nil, errMalformed
	}
	claims, err := e.Open(nil, raw[:nonceSize], raw[nonceSize:], bind)
	if err != nil {
		return nil, errSeal
	}
	return claims, nil
}
