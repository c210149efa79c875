package targets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

// TestPairsDiffer requires each pair to be two readings: some altered token is
// refused by the strict one and accepted by the other.
func TestPairsDiffer(t *testing.T) {
	require.NotEmpty(t, readingPairs())
	for _, r := range readingPairs() {
		token, err := r.strict.codec.SealSeeded(nil, make([]byte, r.strict.codec.SeedSize()), []byte(`"state"`))
		require.NoError(t, err)
		differ := false
		for n := 0; n < 20_000 && !differ; n++ {
			var w program.Writer
			altered := program.Alter(program.New(w.Byte(byte(n)).Byte(program.Anywhere).Uint16(n*7).Uint16(n*13).Uint16(n).Program()), append([]byte(nil), token...))
			_, strict, err := r.strict.open(altered)
			require.NoError(t, err)
			_, faithful, err := r.faithful.open(altered)
			require.NoError(t, err)
			differ = differ || strict != nil && faithful == nil
		}
		require.True(t, differ, "%s and %s", r.strict.Name, r.faithful.Name)
	}
}
