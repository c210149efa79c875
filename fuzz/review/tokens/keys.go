package tokens

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sealab/fuzz/attack/tokenfmt"
)

// knownKeys are keys from templates and tutorials, and texts that an unset variable becomes.
var knownKeys = []string{
	"change-me", "change_me", "changeit", "change-this", "replace-me", "please-change-me", "change-me-in-production", "undefined", "null", "None", "nil", "default", "example", "insecure", "not-a-secret",
	"dev", "dev-secret", "dev_secret", "dev-key", "dev-only-secret", "insecure-dev-key", "test-secret", "test-key", "my-secret", "mysecret",
	"my-secret-key", "mysecretkey", "your-secret", "your-secret-key", "your_secret_key", "your-secret-key-here",
	"supersecretkey", "super_secret_key", "super-secret", "topsecret", "s3cr3t", "secretkey", "secret_key", "secret123", "password123", "admin", "123456", "12345678", "keyboard cat", "shhhhh",
	"jwt_secret", "jwt-secret", "session-secret", "state-secret", "signing-key", "signing-secret", "hmac-key", "hmac-secret", "mcp", "mcp-secret", "mcp-server", "a-string-secret-at-least-256-bits-long",
}

// Published returns keys from examples and documents, and knownKeys.
func Published() [][]byte {
	keys := [][]byte{
		[]byte("example-request-state-signing-key-32b!"), []byte("rust-sdk-conformance-request-state-key!!"),
		[]byte("example-development-key-example-development-key-"), []byte("secret"), []byte("changeme"), []byte("password"), []byte("key"), []byte("test"), []byte("development"),
		[]byte("your-256-bit-secret"), []byte("super-secret-key"), []byte("supersecret"), []byte("secret-key"), []byte("0123456789abcdef0123456789abcdef"), []byte("abcdefghijklmnopqrstuvwxyz123456"),
	}
	for _, word := range knownKeys {
		keys = append(keys, []byte(word))
	}
	for _, c := range []byte{0, 1, 0xff, 'a', 'A', 'k', 'x', '0', 's'} {
		for _, n := range []int{16, 32, 64} {
			keys = append(keys, bytes.Repeat([]byte{c}, n))
		}
	}
	return keys
}

// A Keyless is a tag that can be computed without a secret.
type Keyless struct {
	Issue, Name string
	Place       string // the place of the key, if the token contains it
	sum         func(message []byte) []byte
}

// HMACUnder returns HMAC-SHA256 under a known key.
func HMACUnder(key []byte) Keyless {
	return Keyless{Issue: "the tag of the token is that of a published, trivial or public key", Name: fmt.Sprintf("HMAC-SHA256 under %+q", key), sum: func(message []byte) []byte {
		return hmacSHA256(key, message)[:12]
	}}
}

// Keylesses returns MACs under published keys, hashes and checksums.
func Keylesses() []Keyless {
	var all []Keyless
	for _, key := range Published() {
		all = append(all, HMACUnder(key))
	}
	for _, c := range tokenfmt.Checksums() {
		all = append(all, Keyless{Issue: "the tag of the token is computed without a key", Name: c.Name, sum: c.Sum})
	}
	return all
}

// InToken returns MACs under texts that the token itself contains, by the place of the text.
func InToken(token string) map[string][]Keyless {
	all := map[string][]Keyless{}
	add := func(place, text string) {
		for _, key := range append(LastParts(text), text) {
			k := HMACUnder([]byte(key))
			k.Issue, k.Place = "the tag of the token is that of a key that stands in it", place
			all[place] = append(all[place], k)
		}
	}
	for i, v := range Views(token) {
		for name, raw := range v.Object {
			var text string
			if json.Unmarshal(raw, &text) == nil {
				add(fmt.Sprintf("%s of object %d", name, i), text)
			}
		}
	}
	for i, s := range Segments(token) {
		add(fmt.Sprintf("segment %d", i), s.Text)
	}
	return all
}

// Tags reports whether the token contains the tag of one of its parts. A tag of at least 8 bytes
// may be anywhere, a shorter one must be the last part.
func (k Keyless) Tags(token string) bool {
	all, last := Readable(token), LastParts(token)
	for _, message := range signedTexts(token) {
		if sum := string(k.sum(message)); len(sum) >= 8 && strings.Contains(all, sum) || slices.Contains(last, sum) {
			return true
		}
	}
	return false
}

// separators are characters that separate a tag from the rest of a token.
const separators = ".:~|,;!*$"

// LastParts returns the possible decodings of the text behind the last separator. A number decodes
// to four bytes.
func LastParts(token string) []string {
	text := token[strings.LastIndexAny(token, separators)+1:]
	var all []string
	if b, err := hex.DecodeString(text); err == nil {
		all = append(all, string(b))
	}
	for _, code := range base64Codings {
		if b, err := code.DecodeString(text); err == nil {
			all = append(all, string(b))
		}
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		all = append(all, string(binary.BigEndian.AppendUint32(nil, uint32(n))))
	}
	return all
}

// signedTexts returns the parts of a token that its tag may cover. They are each run of segments as
// text, and each segment as bytes, with and without a tag at its end.
func signedTexts(token string) [][]byte {
	segments := Segments(token)
	var all [][]byte
	for from := range segments {
		for to := from + 1; to <= len(segments); to++ {
			all = append(all, []byte(Replaced(segments[from:to], -1, "")))
		}
		raw := segments[from].Raw()
		all = append(all, raw)
		for _, tag := range []int{16, 20, 32} {
			if len(raw) > tag {
				all = append(all, raw[:len(raw)-tag])
			}
		}
	}
	return all
}
