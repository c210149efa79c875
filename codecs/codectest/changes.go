package codectest

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/testenv"
)

// testChanges checks that a token is refused after every change of one
// character, every truncation and every extension. A sample has 4,000 changes
// of one character, at every position. If the design disclaims Canonical, an
// accepted change must give the same payload.
func testChanges(t *testing.T, s subject) {
	c := s.codec(t)
	token := mustSeal(t, c, s.sample())
	requireNoGain := s.noGain(t, c)
	// Long tokens come from costly public-key cryptography.
	step := 1 + len(token)/500*50
	if testenv.Sample() {
		step = max(step, 256*len(token)/4000)
	}
	for i := range token {
		for b := i % step; b < 256; b += step {
			if byte(b) == token[i] {
				continue
			}
			changed := bytes.Clone(token)
			changed[i] = byte(b)
			requireNoGain(changed)
		}
		requireNoGain(token[:i])
		requireNoGain(token[i+1:])
	}
	for b := range 256 {
		requireNoGain(append(bytes.Clone(token), byte(b)))
		requireNoGain(append([]byte{byte(b)}, token...))
	}
	requireNoGain(append(bytes.Clone(token), token...))
	requireNoGain(append(bytes.Clone(token), token[len(s.Prefix):]...))
}

// noGain returns a check that fails if c accepts a token that it did not seal.
// If the design disclaims Canonical, the check fails only if the payload
// differs.
func (s subject) noGain(t *testing.T, c codecs.Codec) func(presented []byte) {
	if s.holds(codecs.Canonical) {
		return func(presented []byte) { requireRefused(t, c, presented, string(presented)) }
	}
	return func(presented []byte) {
		got, err := c.Unseal(nil, presented)
		if err != nil {
			requireRefusal(t, err, string(presented))
			return
		}
		s.requirePayload(t, s.sample(), got)
	}
}

// testSpellings checks other encodings of a token that decoders are known to
// accept.
func testSpellings(t *testing.T, s subject) {
	c := s.codec(t)
	for _, size := range []int{0, 1, 2, 3, 50, 5000} { // every length modulo 3, and more than one chunk
		payload := jsonText(size)
		token := string(mustSeal(t, c, payload))
		for name, spelled := range spellings(token, len(s.Prefix)) {
			if spelled == token {
				continue
			}
			got, err := c.Unseal(nil, []byte(spelled))
			if err == nil && !s.holds(codecs.Canonical) {
				s.requirePayload(t, payload, got)
				continue
			}
			requireRefusal(t, err, name)
		}
	}
}

// spellings returns other encodings of token, by name, that a lenient reader
// accepts. The first prefix characters are not an encoding.
func spellings(token string, prefix int) map[string]string {
	middle := prefix + (len(token)-prefix)/2
	all := map[string]string{
		"padded once": token + "=", "padded twice": token + "==", "padded fully": token + "===",
		"full stop after": token + ".", "upper case": strings.ToUpper(token), "lower case": strings.ToLower(token),
		"other alphabet": token[:prefix] + strings.NewReplacer("-", "+", "_", "/").Replace(token[prefix:]),
		"percent escape": token[:prefix] + "%" + "41" + token[prefix+1:],
	}
	for name, inserted := range map[string]string{
		"CR": "\r", "LF": "\n", "CRLF": "\r\n", "space": " ", "tab": "\t", "NUL": "\x00", "BOM": "\ufeff",
		"invalid UTF-8": "\xff", "no-break space": "\u00a0", "zero width": "\u200b", "four line feeds": "\n\n\n\n",
	} {
		all[name+" before"] = inserted + token
		all[name+" after the prefix"] = token[:prefix] + inserted + token[prefix:]
		all[name+" inside"] = token[:middle] + inserted + token[middle:]
		all[name+" after"] = token + inserted
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	for bits := 1; last >= 0 && bits < 16; bits++ {
		all["unused bits"+string(rune('a'+bits))] = token[:len(token)-1] + string(alphabet[last^bits])
	}
	return all
}

// testTotal checks that any input gets an answer.
func testTotal(t *testing.T, s subject) {
	c := s.codec(t)
	random := rand.New(rand.NewPCG(1, 2))
	inputs := [][]byte{nil, {}, []byte(s.Prefix), []byte("."), []byte(".."), bytes.Repeat([]byte("."), 1<<20),
		[]byte(s.Prefix + strings.Repeat("A", 1<<20)), []byte(s.Prefix + strings.Repeat("_", 1<<20+1)),
		[]byte(strings.Repeat(s.Prefix, 1000)), bytes.Repeat([]byte{0}, 1000), bytes.Repeat([]byte{0xff}, 1000)}
	for n := range 200 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		inputs = append(inputs, b, append([]byte(s.Prefix), b...), []byte(s.Prefix+strings.Repeat("A", n)))
	}
	for _, in := range inputs {
		got, err := c.Unseal(nil, in)
		requireRefusal(t, err, string(in[:min(len(in), 60)]))
		require.Empty(t, got)
	}
}
