package attacks_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// secretsOf are ways to generate the secrets of many rings.
var secretsOf = map[string]func(i uint64) []byte{
	"random secrets": func(i uint64) []byte {
		sum := sha256.Sum256(fmt.Appendf(nil, "ring %d %d", seed, i))
		return sum[:]
	},
	"secrets that count": func(i uint64) []byte { return binary.BigEndian.AppendUint64([]byte("secret number, 24 bytes:"), i) },
}

// keyIDs returns the key IDs of n rings of a design, read from its tokens, or nil if tokens
// carry none.
func keyIDs(t *testing.T, d codecs.Design, n int, secret func(i uint64) []byte) (ids [][]byte) {
	t.Helper()
	c := attack.Ordinary()
	for i := range n {
		in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{secret(uint64(i))}})
		require.NoError(t, err)
		token, err := in.Seal(nil, []byte(`{"step":1}`), &c)
		require.NoError(t, err)
		id := keyIDOf(t, d, token)
		if id == nil {
			return nil
		}
		ids = append(ids, id)
	}
	return unhexed(ids)
}

// unhexed decodes the IDs if all of them are hexadecimal text.
func unhexed(ids [][]byte) [][]byte {
	var decoded [][]byte
	for _, id := range ids {
		raw, err := hex.DecodeString(string(id))
		if err != nil {
			return ids
		}
		decoded = append(decoded, raw)
	}
	return decoded
}

func keyIDOf(t *testing.T, d codecs.Design, token []byte) []byte {
	t.Helper()
	fields, err := lab.HooksOf(d).Inspect(token)
	require.NoError(t, err)
	for _, f := range fields {
		if f.Name == lab.WireKeyID && len(f.Bytes) > 0 {
			return f.Bytes
		}
	}
	return nil
}

// weakIDs returns the reason why key IDs of many rings are weak, or "" if they look random and
// do not collide.
func weakIDs(ids [][]byte) string {
	report, ok := tokenfmt.Randomness(ids)
	if !ok {
		return "fewer than 4 bytes of a key ID vary"
	}
	// Two random 32-bit IDs collide with probability 2^-32.
	if report.Collisions > 1 {
		return report.String()
	}
	return report.Failed()
}

// TestKeyIDs checks that key IDs of many rings are random, in each design whose tokens carry
// one. The two kinds of secrets alternate between designs.
func TestKeyIDs(t *testing.T) {
	carried := 0
	for _, d := range catalog.All() {
		if d.Hooks == nil || lab.HooksOf(d).Inspect == nil || keyIDs(t, d, 1, secretsOf["random secrets"]) == nil {
			continue
		}
		carried++
		if testenv.Sample() && carried%4 != 0 {
			continue
		}
		name := slices.Sorted(maps.Keys(secretsOf))[carried/2%2]
		ids := keyIDs(t, d, tokenfmt.MinTokens, secretsOf[name])
		require.Empty(t, weakIDs(ids), "%s, %s", d.Name, name)
		report, _ := tokenfmt.Randomness(ids)
		t.Logf("%s, %s: key IDs of %d bytes; %v; %.1f effective bits", d.Name, name, len(ids[0]), report, report.EffectiveBits)
	}
	require.NotZero(t, carried)
}

// TestWeakKeyIDs checks that weak key IDs are detected.
func TestWeakKeyIDs(t *testing.T) {
	for name, id := range map[string]func(secret []byte) []byte{
		"the end of the secret":     func(secret []byte) []byte { return secret[28:] },
		"one byte of a digest":      func(secret []byte) []byte { sum := sha256.Sum256(secret); return append(make([]byte, 3), sum[0]) },
		"16 bits of a digest twice": func(secret []byte) []byte { sum := sha256.Sum256(secret); return append(sum[:2:2], sum[:2]...) },
		"digits": func(secret []byte) []byte {
			return fmt.Appendf(nil, "%08d", binary.BigEndian.Uint64(secret[24:])*7919%100_000_000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ids [][]byte
			for i := range uint64(4 * tokenfmt.MinTokens) {
				ids = append(ids, id(secretsOf["secrets that count"](i)))
			}
			require.NotEmpty(t, weakIDs(ids))
		})
	}
}
