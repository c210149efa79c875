package attacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/broken"
	"sealab/internal/verdict"
)

// TestSoundSignedTokensStand attacks the skeleton of the controls without a mistake.
func TestSoundSignedTokensStand(t *testing.T) {
	tested := 0
	for _, cell := range campaign(t, broken.SoundJWS(), "JOS", "KEY-01", "ENC", "FRM", "TAG", "PAY-04") {
		require.False(t, cell.Accuses(), "%s refutes %s: %s", cell.Attack, cell.Property, cell.Issue)
		if cell.Outcome == verdict.NotRefuted {
			tested++
		}
	}
	require.Greater(t, tested, 20)
}
