package lab_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/lab"
)

func TestNilEditLeavesEverything(t *testing.T) {
	var edit lab.Edit
	value := []byte("value")
	require.Same(t, &value[0], &edit.Apply(lab.StepTag, value)[0])
	require.Same(t, &value[0], &edit.Give(lab.StepTag, value)[0])
	require.Equal(t, "value", string(edit.Tail(lab.StepTag, value, 2)))
}

// TestEditChangesNothingElse applies an edit that overwrites and extends its slice. It must change neither
// the value passed to Apply nor the bytes after the value passed to Give.
func TestEditChangesNothingElse(t *testing.T) {
	var edit lab.Edit = func(s lab.Step, value []byte) []byte {
		require.Equal(t, lab.StepTag, s)
		copy(value, "XX")
		return append(value, "YY"...)
	}
	value := []byte("value")
	require.Equal(t, "XXYY", string(edit.Apply(lab.StepTag, value[:2])))
	require.Equal(t, "value", string(value))
	require.Equal(t, "XXYY", string(edit.Give(lab.StepTag, value[1:3])))
	require.Equal(t, "vXXue", string(value))
	require.Equal(t, "abXXYY", string(edit.Tail(lab.StepTag, []byte("abcd"), 2)))
}

// TestEditOfTail replaces a tail with parts of itself, with other text and with an empty value.
func TestEditOfTail(t *testing.T) {
	for want, replace := range map[string]func(value []byte) []byte{
		"ab":     func([]byte) []byte { return nil },
		"abef":   func(value []byte) []byte { return value[2:] },
		"abcd":   func(value []byte) []byte { return value[:2] },
		"abcdef": bytes.Clone,
		"abx":    func([]byte) []byte { return []byte("x") },
	} {
		var edit lab.Edit = func(_ lab.Step, value []byte) []byte { return replace(value) }
		require.Equal(t, want, string(edit.Tail(lab.WireText, []byte("abcdef"), 2)))
	}
}
