package mcppy

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

var (
	payloads = flag.Int("payloads", 5000, "random payloads that both readings judge")
	tokens   = flag.Int("tokens", 20_000, "tokens to mint and verify while memory is watched")
)

// randomState returns a state of words, quotation marks, escapes and text beyond
// ASCII.
func randomState(random *rand.Rand) (state []byte) {
	pieces := []string{"word", `"`, `\`, "\n", "\x01", "é", "😀", "\xed\xa0\x80 ", " plain text of many words ", "{}[]:,"}
	for range random.IntN(20) {
		state = append(state, pieces[random.IntN(len(pieces))]...)
	}
	return state
}

// TestBothReadingsAgree mints random states in random contexts and changes most
// of the payloads. accept and the slow path must agree. make fast-paths does so
// a million times.
func TestBothReadingsAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(uint64(*payloads), 9))
	all, text := contexts()
	accepted := 0
	var work room
	for range *payloads {
		minted := &all[random.IntN(text)]
		require.NoError(t, work.claim(defaultTTL, salt{byte(random.IntN(256))}, randomState(random), minted))
		payload := bytes.Clone(work.payload)
		for range random.IntN(4) {
			payload[random.IntN(len(payload))] = "\x00 \"\\,:{}019.eEnua\xc3\x7f"[random.IntN(19)]
		}
		if requireSameAnswer(t, payload, &all[random.IntN(len(all))]) || requireSameAnswer(t, payload, minted) {
			accepted++
		}
	}
	t.Logf("%d payloads, %d accepted", *payloads, accepted)
	require.Greater(t, accepted, *payloads/5)
	require.Less(t, accepted, *payloads)
}

// TestMemoryStaysFlat mints and verifies tokens of many sizes. It compares the
// heap after a tenth of them with the heap at the end. make fast-paths uses ten
// million.
func TestMemoryStaysFlat(t *testing.T) {
	s, err := New(time.Hour, bytes.Repeat([]byte("k"), 32))
	require.NoError(t, err)
	alice := "alice"
	c := codecs.Context{Now: time.Unix(1795132800, 0), Method: "tools/call", Target: "deploy", Arguments: []byte(`{"b":1,"a":[true]}`), Principal: &alice}
	state := bytes.Repeat([]byte(`"step" `), 40)
	var token, got []byte
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var early int64
	for i := range *tokens {
		if i == *tokens/10 {
			early = heap()
		}
		want := state[:i%len(state)]
		token, err = s.Mint(token[:0], want, &c)
		require.NoError(t, err)
		got, err = s.Verify(got[:0], token, &c)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	}
	grown := heap() - early
	t.Logf("%d tokens: the heap grew by %d bytes after the first tenth", *tokens, grown)
	require.Less(t, grown, int64(1<<20))
}
