package mcpd

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"

	"sealab/codecs"
	"sealab/codecs/b64"
)

const (
	signedPrefix = "v1."
	separator    = "."
)

// macs hands out keyed HMAC states, each used by one goroutine at a time.
type macs struct{ pool sync.Pool }

func newMACs(key []byte) *macs {
	return &macs{sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

func (m *macs) sum(data []byte) []byte {
	h := m.pool.Get().(hash.Hash)
	defer m.pool.Put(h)
	h.Reset()
	h.Write(data)
	return h.Sum(nil)
}

// bindTag returns the tag of a binding's material, in hexadecimal.
func (m *macs) bindTag(material []byte) []byte { return lowerHex(m.sum(material)) }

// lowerHex is lower-case hexadecimal without a table, whose look-ups would
// depend on the tag: a presented token may not show the right one.
func lowerHex(b []byte) []byte {
	digit := func(n byte) byte { return '0' + n + byte((9-int(n))>>8)&('a'-'0'-10) }
	text := make([]byte, 0, 2*len(b))
	for _, v := range b {
		text = append(text, digit(v>>4), digit(v&15))
	}
	return text
}

// signed is the mode in which claims are readable.
type signed struct{ *macs }

func newSigned(_ []byte, m *macs) (mode, error) { return signed{m}, nil }

func (signed) seedSize() int { return 0 }

func (s signed) protect(dst, _, claims, _ []byte, edit codecs.Edit) ([]byte, error) {
	tag := edit(codecs.StepTag, s.sum(claims))
	dst = append(dst, edit(codecs.WirePrefix, []byte(signedPrefix))...)
	body := edit(codecs.WireBody, bytes.Clone(claims))
	dst = append(dst, edit(codecs.WireText, b64.AppendEncode(nil, body))...)
	dst = append(dst, edit(codecs.WireSep, []byte(separator))...)
	tag = edit(codecs.WireTag, bytes.Clone(tag))
	return append(dst, edit(codecs.WireText, b64.AppendEncode(nil, tag))...), nil
}

func (s signed) open(token, _ []byte, decode decoder) ([]byte, *codecs.RejectError) {
	rest, ok := bytes.CutPrefix(token, []byte(signedPrefix))
	if !ok || bytes.Count(rest, []byte(separator)) != 1 {
		return nil, errMalformed
	}
	body, tag, _ := bytes.Cut(rest, []byte(separator))
	claims, ok := decode(body)
	mac, decoded := decode(tag)
	if !ok || !decoded || len(mac) != sha256.Size {
		return nil, errMalformed
	}
	if !hmac.Equal(mac, s.sum(claims)) {
		return nil, errMAC
	}
	return claims, nil
}
