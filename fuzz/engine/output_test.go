package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// engineText is output of the engine of Go 1.26 with GODEBUG=fuzzdebug=1.
const engineText = `fuzz: elapsed: 0s, gathering baseline Coverage: 0/189 completed
2026-11-20 10:06:04.82 DEBUG processed an initial input, id: seed#3, new bits: 11, size: 33, exec time: 0s
fuzz: elapsed: 2s, gathering baseline Coverage: 189/189 completed, now fuzzing with 1 workers
2026-11-20 10:06:04.82 DEBUG finished processing input corpus, entries: 189, initial coverage bits: 2427
2026-11-20 10:06:05.53 DEBUG new interesting input, id: 66498f37, parent: seed#1, gen: 1, new bits: 7, total bits: 2434, size: 33, exec time: 0s
fuzz: elapsed: 3s, execs: 50000 (51234/sec), new interesting: 1 (total: 190)
2026-11-20 10:06:12.47 DEBUG new interesting input, id: 438198a1, parent: seed#13, gen: 1, new bits: 14, total bits: 2475, size: 1335, exec time: 0s
fuzz: elapsed: 10s, execs: 100000 (154126/sec), new interesting: 7 (total: 196)
--- FAIL: FuzzText (10.00s)
    no space left on device
`

func TestEngineOutput(t *testing.T) {
	var o Output
	var seen []Count
	require.NoError(t, o.Read(strings.NewReader(engineText), func(c Count) { seen = append(seen, c) }))
	require.Equal(t, []Count{
		{Executions: 50_000, New: 1, Corpus: 190, Coverage: 2434},
		{Executions: 100_000, New: 7, Corpus: 196, Coverage: 2475},
	}, seen)
	require.Equal(t, []string{"--- FAIL: FuzzText (10.00s)", "    no space left on device"}, o.Tail)
	require.False(t, o.Blind)
	require.NoError(t, o.Read(strings.NewReader("fuzz: elapsed: 0s, testing seed corpus: 0/3 completed\n"), nil))
	require.True(t, o.Blind)
}
