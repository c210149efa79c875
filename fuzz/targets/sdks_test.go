package targets

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
	"sealab/internal/testenv"
)

// BenchmarkSDKs compares full batches of altered tokens with each installed SDK, and measures
// verdicts per second.
func BenchmarkSDKs(b *testing.B) {
	running := runningSDKs()
	if running.missing != "" {
		testenv.Skip(b, "%s", running.missing)
	}
	for _, m := range running.all {
		b.Run("sdk="+m.name, func(b *testing.B) {
			random := rand.NewChaCha8([32]byte{1})
			var tokens [][]byte
			for len(tokens) < maxBatch {
				var w program.Writer
				input := w.Bytes([]byte("seed")).Bytes([]byte("state")).Byte(1).Byte(byte(random.Uint64())).Byte(program.Anywhere).Uint16(int(uint16(random.Uint64()))).Byte('x').Program()
				token, err := m.present(program.New(input))
				require.NoError(b, err)
				tokens = append(tokens, token)
			}
			verdicts := 0
			for b.Loop() {
				require.NoError(b, m.compare(tokens))
				verdicts += len(tokens)
			}
			b.ReportMetric(float64(verdicts)/b.Elapsed().Seconds(), "verdicts/s")
		})
	}
}
