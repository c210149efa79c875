package claims

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/keyring"
)

var partTime = flag.Duration("parts", time.Millisecond, "time for which the parts of a token are timed")

// stateOf returns JSON of about n bytes, with escapes as frequent as in the
// payloads of sealab bench.
func stateOf(n int) []byte {
	const answer = `{"action":"accept","content":{"approver":"user-3894","comment":"Canary at 75 %, no errors — go on, please, and in each region."}},`
	text := `{"tool":"deploy_release","answers":[` + strings.Repeat(answer, n/len(answer))
	return []byte(text + strings.Repeat("x", n-len(text)))
}

// batch is the number of calls that are timed together: few enough that a batch
// usually runs without interruption.
const batch = 50

// A part is a piece of work that is timed alone.
type part struct {
	name  string
	call  func()
	least time.Duration // minimum time of a batch
}

// TestParts times Verify and Mint of claims over AES-256-GCM, and the parts of
// Verify, in turn, and prints the minimum times. It uses the request of sealab
// bench. bench/README.md has the sums.
func TestParts(t *testing.T) {
	parts := append(partsOf(t, 64), partsOf(t, 1024)...)
	for end := time.Now().Add(*partTime); ; {
		for i := range parts {
			start := time.Now()
			for range batch {
				parts[i].call()
			}
			parts[i].least = min(parts[i].least, time.Since(start))
		}
		if !time.Now().Before(end) {
			break
		}
	}
	for _, p := range parts {
		t.Logf("%-34s %5d ns", p.name, p.least.Nanoseconds()/batch)
	}
}

func partsOf(t *testing.T, n int) (parts []part) {
	principal, audience := `["client-1","https://as.example","alice"]`, "releases"
	c := codecs.Context{
		Now: time.Unix(1795176000, 250e6), Method: "tools/call", Target: "deploy_release", Principal: &principal, Audience: &audience,
		Arguments: []byte(`{"release":"2026.11.2","environment":"eu-west-1","canary":true}`),
	}
	codec := aesgcm.Ephemeral()
	s := &scheme{codec, DefaultTTL}
	state, dst := stateOf(n), make([]byte, 0, 4096)
	require.Len(t, state, n)
	salt := make([]byte, saltSize)
	var work base64url.Scratch
	require.NoError(t, s.claim(&work, salt, state, &c))
	bare, err := codec.Seal(nil, state)
	require.NoError(t, err)
	token, err := codec.Seal(nil, work.Bytes)
	require.NoError(t, err)
	got, err := s.Verify(nil, token, &c)
	require.NoError(t, err)
	require.Equal(t, string(state), string(got))
	digested, err := appendContext(nil, salt, &c)
	require.NoError(t, err)
	add := func(name string, call func()) {
		parts = append(parts, part{fmt.Sprintf("%s, %d B", name, n), call, time.Hour})
	}
	add("codec", func() { codec.Unseal(dst, bare) })
	add("verify", func() { s.Verify(dst, token, &c) })
	add("codec over the claims", func() { codec.Unseal(dst, token) })
	add("digest of the context", func() { sha256.Sum256(digested) })
	add("context written", func() { appendContext(dst, salt, &c) })
	add("arguments made canonical", func() { compactjson.AppendExact(dst, c.Arguments) })
	add("working space", func() { base64url.GetScratch().Wipe(n) })
	add("codec seals", func() { codec.Seal(dst, state) })
	add("mint", func() { s.Mint(dst, state, &c) })
	add("codec seals the claims", func() { codec.Seal(dst, work.Bytes) })
	add("salt drawn", func() { keyring.Random(salt) })
	return parts
}
