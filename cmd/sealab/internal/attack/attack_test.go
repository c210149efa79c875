package attack

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/sdk"
	"sealab/fuzz/attack"
)

func TestInterruptIsTheReason(t *testing.T) {
	var interrupted bool
	f := attackFlags{interrupted: func() bool { return interrupted }}
	used := func() time.Duration { return time.Minute }
	require.NoError(t, f.over(used, time.Minute)())
	require.ErrorIs(t, f.over(used, time.Second)(), attack.ErrTimeOver)
	interrupted = true
	require.ErrorIs(t, f.over(used, time.Second)(), errInterrupted)
}

// TestPasswordsAreSkipped checks that a library that accepts only passwords is
// excluded from an attack with a message.
func TestPasswordsAreSkipped(t *testing.T) {
	var notes bytes.Buffer
	takes := sdk.SDK{Name: "bytes"}
	passwords := sdk.SDK{Name: "passwords", Agrees: sdk.Agreement{Keys: "text"}}
	require.Equal(t, []sdk.SDK{takes}, attackableSDKs([]sdk.SDK{passwords, takes}, &notes))
	require.Contains(t, notes.String(), "skipped: passwords: ")
}
