package mcpd

import (
	"bytes"
	"crypto/cipher"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const (
	signedPrefix = "v1."
	separator    = "."
)

var (
	signedPrefixBytes = []byte(signedPrefix)
	separatorBytes    = []byte(separator)
)

// signed is the mode with readable claims.
type signed struct{ *mac.Key }

func newSigned(_ []byte, k *mac.Key) (mode, error) { return signed{k}, nil }

func (signed) seedSize() int { return 0 }

func (s signed) protect(dst, _, claims, _ []byte, edit lab.Edit) ([]byte, error) {
	work := base64url.GetScratch()
	defer work.Free()
	work.Bytes = s.Append(work.Bytes, claims)
	tag := edit.Give(lab.StepTag, work.Bytes)
	dst = slices.Grow(dst, len(signedPrefix)+base64url.EncodedLen(len(claims))+len(separator)+base64url.EncodedLen(len(tag)))
	dst = append(dst, edit.Apply(lab.WirePrefix, signedPrefixBytes)...)
	body := edit.Apply(lab.WireBody, claims)
	dst = edit.Tail(lab.WireText, base64url.AppendEncode(dst, body), len(dst))
	dst = append(dst, edit.Apply(lab.WireSep, separatorBytes)...)
	tag = edit.Apply(lab.WireTag, tag)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, tag), len(dst)), nil
}

func (s signed) open(room *base64url.Scratch, token, _ []byte, decode decoder) ([]byte, *codecs.RejectError) {
	rest, ok := bytes.CutPrefix(token, signedPrefixBytes)
	if !ok || bytes.Count(rest, separatorBytes) != 1 {
		return nil, errMalformed
	}
	body, tag, _ := bytes.Cut(rest, separatorBytes)
	ok = decode(room, body)
	n := len(room.Bytes)
	decoded := decode(room, tag)
	claims, sum := room.Bytes[:n], room.Bytes[n:]
	if !ok || !decoded || len(sum) != mac.Size {
		return nil, errMalformed
	}
	if !s.Verify(sum, claims) {
		return nil, errMAC
	}
	return claims, nil
}

const (
	encryptedPrefix = "v1e."
	nonceSize       = 12
	tagSize         = 16
)

var encryptedPrefixBytes = []byte(encryptedPrefix)

// encrypted is the mode with encrypted claims.
type encrypted struct{ cipher.AEAD }

func newEncrypted(secret []byte, _ *mac.Key) (mode, error) {
	aead, err := keyring.AESGCM(keyring.Derive(secret, aesLabel, keyring.KeySize))
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return encrypted{aead}, nil
}

func (encrypted) seedSize() int { return nonceSize }

// encryptedLayout lists the fields after the prefix.
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

// A decoder appends the bytes of a segment to room.
type decoder func(room *base64url.Scratch, segment []byte) bool

// canonical decodes a segment in canonical base64url.
func canonical(room *base64url.Scratch, segment []byte) bool { return room.Decode(segment) }

// lenient decodes as std.base64.Base64URLNoPadding of Phobos does. It ignores
// the spare bits of the last character. Phobos uses NUL for padding, which this
// variant lacks, and reads it as -1. As the first character of a group NUL
// counts as _. As the second it also sets the two low bits of the first byte.
// Later in a whole group it ends the decoding, which crashes a checked build.
func lenient(room *base64url.Scratch, segment []byte) bool {
	if canonical(room, segment) { // the common case
		return true
	}
	const group = 4
	room.Grow(base64url.DecodedLen(len(segment)))
	out := room.Bytes
	for len(segment) > 0 {
		n := min(group, len(segment))
		var v [group]int
		for i, c := range segment[:n] {
			v[i] = values[c]
			if v[i] == none || v[i] == nul && n == group && i >= 2 {
				return false
			}
		}
		switch n {
		case 1:
			return false
		case 2:
			out = append(out, byte(v[0]<<2|v[1]>>4))
		case 3:
			out = append(out, byte(v[0]<<2|v[1]>>4), byte(v[1]<<4|v[2]>>2))
		default:
			out = append(out, byte(v[0]<<2|v[1]>>4), byte(v[1]<<4|v[2]>>2), byte(v[2]<<6|v[3]))
		}
		segment = segment[n:]
	}
	room.Bytes = out
	return true
}

const (
	nul  = -1 // value of a NUL in Phobos
	none = -2 // not a character of the alphabet
)

// values maps characters to their values.
var values = func() (t [256]int) {
	for c := range t {
		t[c] = none
	}
	t[0] = nul
	for v, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		t[c] = v
	}
	return t
}()
