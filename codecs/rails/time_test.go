package rails

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReadTime compares readTime with Ruby 3.1.
func TestReadTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-24T11:53:43.500Z":          "2026-11-24T11:53:43.5Z",
		"2026-11-24T11:53:43.500z":          "2026-11-24T11:53:43.5Z",
		" 2026-02-31t00:00:60+0130\v":       "2026-03-02T22:31:00Z",
		"2026-01-01T24:00:00-05:30":         "2026-01-02T05:30:00Z",
		"2026-01-01T00:00:00.1234567890+01": "2025-12-31T23:00:00.123456789Z",
		"2026-01-01T00:00:00.1234567891+01": "2025-12-31T23:00:00.12345679Z",
		"2026-01-01T00:00:00-23:59":         "2026-01-01T23:59:00Z",
		"2026-01-01T00:00:00+24:00":         "",
		"2026-01-01T00:00:00-23:60":         "",
		"-5-01-01T00:00:00":                 "-0005-01-01T00:00:00Z",
		"2026-01-01T24:01:00Z":              "",
		"2026-13-01T00:00:00Z":              "",
		"2026-01-01 00:00:00Z":              "",
		"":                                  "",
	} {
		got, ok := readTime(text)
		require.Equal(t, want != "", ok, "%q", text)
		if ok {
			require.Equal(t, want, got.UTC().Format(time.RFC3339Nano), "%q", text)
		}
	}
}
