package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
