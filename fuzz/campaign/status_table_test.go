package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTableFitsTerminal is the table of three days on the target with the
// longest name.
func TestTableFitsTerminal(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	days := 72 * time.Hour
	s := Status{Targets: []TargetStatus{{Target: Target{Name: "primitives"}, Executions: 9_999_999_999, Seconds: days.Seconds(),
		Coverage: 12345, Corpus: 12345, New: 12345, LastNew: now.Add(-days)}}}
	var table strings.Builder
	require.NoError(t, s.WriteTable(&table, now))
	require.Contains(t, table.String(), " newest ")
	for line := range strings.Lines(table.String()) {
		require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 80, line)
	}
}
