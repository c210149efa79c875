package review

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sealab/fuzz/attack/tokenfmt"
)

// careless are keys of templates and tutorials, and what a missing variable turns into.
var careless = []string{
	"change-me", "change_me", "changeit", "change-this", "replace-me", "please-change-me", "change-me-in-production", "undefined", "null", "None", "nil", "default", "example", "insecure", "not-a-secret",
	"dev", "dev-secret", "dev_secret", "dev-key", "dev-only-secret", "insecure-dev-key", "test-secret", "test-key", "my-secret", "mysecret", "my-secret-key", "mysecretkey", "your-secret", "your-secret-key", "your_secret_key", "your-secret-key-here",
	"supersecretkey", "super_secret_key", "super-secret", "topsecret", "s3cr3t", "secretkey", "secret_key", "secret123", "password123", "admin", "123456", "12345678", "keyboard cat", "shhhhh",
	"jwt_secret", "jwt-secret", "session-secret", "state-secret", "signing-key", "signing-secret", "hmac-key", "hmac-secret", "mcp", "mcp-secret", "mcp-server", "a-string-secret-at-least-256-bits-long",
}

// published are keys that stand in examples and documents, and careless ones.
func published() [][]byte {
	keys := [][]byte{
		[]byte("example-request-state-signing-key-32b!"), []byte("rust-sdk-conformance-request-state-key!!"),
		[]byte("example-development-key-example-development-key-"), []byte("secret"), []byte("changeme"), []byte("password"), []byte("key"), []byte("test"), []byte("development"),
		[]byte("your-256-bit-secret"), []byte("super-secret-key"), []byte("supersecret"), []byte("secret-key"), []byte("0123456789abcdef0123456789abcdef"), []byte("abcdefghijklmnopqrstuvwxyz123456"),
	}
	for _, word := range careless {
		keys = append(keys, []byte(word))
	}
	for _, c := range []byte{0, 1, 0xff, 'a', 'A', 'k', 'x', '0', 's'} {
		for _, n := range []int{16, 32, 64} {
			keys = append(keys, bytes.Repeat([]byte{c}, n))
		}
	}
	return keys
}

// A keyless is a tag that anybody can compute.
type keyless struct {
	issue, name string
	sum         func(message []byte) []byte
}

// hmacUnder is HMAC-SHA256 under a key that is known.
func hmacUnder(key []byte) keyless {
	return keyless{"the tag of the token is that of a published, trivial or public key", fmt.Sprintf("HMAC-SHA256 under %+q", key), func(message []byte) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write(message)
		return mac.Sum(nil)[:12]
	}}
}

// keylesses are MACs under published keys, hashes and checksums.
func keylesses() []keyless {
	var all []keyless
	for _, key := range published() {
		all = append(all, hmacUnder(key))
	}
	for _, c := range tokenfmt.Checksums() {
		all = append(all, keyless{"the tag of the token is computed without a key", c.Name, c.Sum})
	}
	return all
}

// derivedKeys are MACs under values that every client knows, under hashes of them and of
// published keys, and under the credential of the request.
func (t *T) derivedKeys() []keyless {
	s, texts := t.r.Report.Server, published()
	var all []keyless
	for _, text := range []string{s.Name, s.Name + "-secret", s.Version, s.Name + s.Version, s.Name + "/" + s.Version, s.Name + "-" + s.Version, s.Name + ":" + s.Version, t.r.opts.Target.URL} {
		if text != "" {
			texts, all = append(texts, []byte(text)), append(all, hmacUnder([]byte(text)))
		}
	}
	if t.r.client.http != nil {
		texts = append(texts, []byte(t.r.client.http.Host()), []byte(t.r.client.http.Hostname()))
	}
	for _, text := range texts {
		sum := sha256.Sum256(text)
		digest := hmacUnder(sum[:])
		digest.name = fmt.Sprintf("HMAC-SHA256 under SHA-256 of %+q", text)
		all = append(all, digest, hmacUnder([]byte(hex.EncodeToString(sum[:]))))
	}
	if _, secret := t.r.opts.Target.authorization(); secret != "" {
		own := hmacUnder([]byte(secret))
		own.name = "HMAC-SHA256 under the credential of the request"
		all = append(all, own)
	}
	return all
}

func publishedKeys(t *T) {
	f := t.o.flow
	other := f
	if f.Other != nil {
		other = f.with(f.Other)
	}
	t.keyOf(f, other)
	input := f.offer.input()
	if args := withText(f.Arguments, input, strings.Repeat("a", longArgument)); args != nil && len(t.findings) == 0 && t.reason == "" {
		t.keyOf(f.with(args), f.with(withText(f.Arguments, input, strings.Repeat("b", longArgument)))) // long states may have another tag
	}
}

// keyOf looks for a key of the tokens of a flow, which those of another one have as well.
func (t *T) keyOf(f, another Flow) {
	token, _, err := t.r.client.mint(t.ctx, f, t.o.user)
	if err != nil {
		if t.trials == 0 {
			t.skip("control: %v", err)
		}
		return
	}
	if len(views(token)) == 0 {
		t.skip("the state cannot be read, so that no tag can be computed")
		return
	}
	all := keylesses()
	all = append(all, t.derivedKeys()...)
	for _, k := range all {
		if !k.tags(token) {
			continue
		}
		// Four bytes may fit by chance: another token has to have the tag as well.
		if other, _, err := t.r.client.mint(t.ctx, another, t.o.user); err == nil && k.tags(other) {
			t.refute(Finding{Case: k.name, Severity: Critical, Issue: k.issue, Evidence: fmt.Sprintf("token %s, tag %s", short(token, 160), k.name), Want: "an unknown key", Got: "a known key"})
			return
		}
	}
	t.trials++
}

// tags reports whether the token holds the tag of one of its parts: anywhere if it
// is long, else as its last part.
func (k keyless) tags(token string) bool {
	all, last := readable(token), lastParts(token)
	for _, message := range signedTexts(token) {
		sum := string(k.sum(message))
		if len(sum) >= 8 && strings.Contains(all, sum) || slices.Contains(last, sum) {
			return true
		}
	}
	return false
}

// separators are characters that part a tag from the rest of a token.
const separators = ".:~|,;!*$"

// lastParts returns the bytes that the text behind the last separator may stand
// for. A number stands for four bytes.
func lastParts(token string) []string {
	text := token[strings.LastIndexAny(token, separators)+1:]
	var all []string
	if b, err := hex.DecodeString(text); err == nil {
		all = append(all, string(b))
	}
	for _, code := range codings {
		if b, err := code.DecodeString(text); err == nil {
			all = append(all, string(b))
		}
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		all = append(all, string(binary.BigEndian.AppendUint32(nil, uint32(n))))
	}
	return all
}

// signedTexts are the parts of a token that its tag may cover: each run of
// segments from the start or from the first coded one, as text and as bytes.
func signedTexts(token string) [][]byte {
	segments := segmentsOf(token)
	var all [][]byte
	for from := range segments {
		for to := from + 1; to <= len(segments); to++ {
			all = append(all, []byte(replaced(segments[from:to], -1, "")))
		}
		raw := segments[from].raw()
		all = append(all, raw)
		for _, tag := range []int{16, 20, 32} {
			if len(raw) > tag {
				all = append(all, raw[:len(raw)-tag])
			}
		}
	}
	return all
}
