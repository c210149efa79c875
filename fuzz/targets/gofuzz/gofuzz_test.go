package gofuzz

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRun runs the empty input of a target, and panics for a failure.
func TestRun(t *testing.T) {
	require.Zero(t, FuzzText(nil))
	require.Zero(t, FuzzJson([]byte("{}")))
	require.Panics(t, func() { run("no such target", nil) })
}
