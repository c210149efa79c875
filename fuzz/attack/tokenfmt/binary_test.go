package tokenfmt_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/attack/tokenfmt"
)

// TestBinaryForms writes a nonce and a text of 40 bytes in several formats and checks that
// BinaryForms yields a known other form of a head.
func TestBinaryForms(t *testing.T) {
	nonce, text := raw(1, 12), raw(2, 40)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct{ raw, other []byte }{
		"CBOR list":            {join([]byte{0x82, 0x4c}, nonce, []byte{0x58, 40}, text), join([]byte{0x82, 0x58, 12}, nonce, []byte{0x58, 40}, text)},
		"CBOR map":             {join([]byte{0xa1, 0x01, 0x58, 40}, text), join([]byte{0xa1, 0x01, 0x59, 0, 40}, text)},
		"CBOR with a tag":      {join([]byte{0xd0, 0x58, 40}, text), join([]byte{0xd0, 0x5a, 0, 0, 0, 40}, text)},
		"MessagePack list":     {join([]byte{0x92, 0xc4, 12}, nonce, []byte{0xc4, 40}, text), join([]byte{0x92, 0xc4, 12}, nonce, []byte{0xc5, 0, 40}, text)},
		"MessagePack map":      {join([]byte{0x81, 0xa1, 'c', 0xc4, 40}, text), join([]byte{0xde, 0, 1, 0xa1, 'c', 0xc4, 40}, text)},
		"protobuf":             {join([]byte{0x0a, 12}, nonce, []byte{0x12, 40}, text), join([]byte{0x0a, 12}, nonce, []byte{0x12, 0x80 | 40, 0}, text)},
		"ASN.1":                {join([]byte{0x30, 56, 4, 12}, nonce, []byte{4, 40}, text), join([]byte{0x30, 56, 4, 0x81, 12}, nonce, []byte{4, 40}, text)},
		"netstrings":           {join([]byte("12:"), nonce, []byte(",40:"), text, []byte(",")), join([]byte("12:"), nonce, []byte(",040:"), text, []byte(","))},
		"bencode":              {join([]byte("l12:"), nonce, []byte("40:"), text, []byte("e")), join([]byte("l012:"), nonce, []byte("40:"), text, []byte("e"))},
		"fields and a tag":     {join([]byte{7, 12}, nonce, []byte{40}, text, raw(4, 32)), join([]byte{7, 12}, nonce, []byte{0x80 | 40, 0}, text, raw(4, 32))},
		"protobuf with a time": {join([]byte{0x08, 0x96, 0x01, 0x12, 40}, text), join([]byte{0x08, 0x96, 0x81, 0, 0x12, 40}, text)},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, binaryForms(c.raw), string(c.other))
		})
	}
	for name, other := range map[string][]byte{"random bytes": raw(3, 60), "a list that is cut": join([]byte{0x82, 0x4c}, nonce), "JSON": []byte(`{"alg":"dir","enc":"A256GCM"}`)} {
		t.Run(name, func(t *testing.T) { require.Empty(t, binaryForms(other)) })
	}
}

// binaryForms returns the decoded bytes of the tokens that BinaryForms yields for one segment.
func binaryForms(raw []byte) (all []string) {
	f := tokenfmt.Infer(fmt.Appendf(nil, "v1.%s", base64.RawURLEncoding.EncodeToString(raw)))
	for a := range tokenfmt.Each(tokenfmt.BinaryForms, f, tokenfmt.NewSource(1)) {
		other, err := base64.RawURLEncoding.DecodeString(string(a.Text[3:]))
		if err == nil {
			all = append(all, string(other))
		}
	}
	return all
}
