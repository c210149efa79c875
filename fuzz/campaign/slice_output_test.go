package campaign

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// engineText is what the engine of Go 1.26 writes with GODEBUG=fuzzdebug=1.
const engineText = `fuzz: elapsed: 0s, gathering baseline coverage: 0/189 completed
2026-11-20 10:06:04.82 DEBUG processed an initial input, id: seed#3, new bits: 11, size: 33, exec time: 0s
fuzz: elapsed: 2s, gathering baseline coverage: 189/189 completed, now fuzzing with 1 workers
2026-11-20 10:06:04.82 DEBUG finished processing input corpus, entries: 189, initial coverage bits: 2427
2026-11-20 10:06:05.53 DEBUG new interesting input, id: 66498f37, parent: seed#1, gen: 1, new bits: 7, total bits: 2434, size: 33, exec time: 0s
fuzz: elapsed: 3s, execs: 50000 (51234/sec), new interesting: 1 (total: 190)
2026-11-20 10:06:12.47 DEBUG new interesting input, id: 438198a1, parent: seed#13, gen: 1, new bits: 14, total bits: 2475, size: 1335, exec time: 0s
fuzz: elapsed: 10s, execs: 100000 (154126/sec), new interesting: 7 (total: 196)
--- FAIL: FuzzText (10.00s)
    no space left on device
`

func TestEngineOutput(t *testing.T) {
	var o engineOutput
	var seen []count
	require.NoError(t, o.read(strings.NewReader(engineText), func(c count) { seen = append(seen, c) }))
	require.Equal(t, []count{
		{executions: 50_000, found: 1, corpus: 190, coverage: 2434},
		{executions: 100_000, found: 7, corpus: 196, coverage: 2475},
	}, seen)
	require.Equal(t, []string{"--- FAIL: FuzzText (10.00s)", "    no space left on device"}, o.tail)
	require.False(t, o.blind)
	require.NoError(t, o.read(strings.NewReader("fuzz: elapsed: 0s, testing seed corpus: 0/3 completed\n"), nil))
	require.True(t, o.blind)
}
