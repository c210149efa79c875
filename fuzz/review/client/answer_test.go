package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShowsValue(t *testing.T) {
	for text, found := range map[string]bool{
		"booked for 2 persons": true,
		"released x2":          true,
		"paid 2EUR":            true,
		"persons: 2.":          true,
		"booked for 1 person, receipt b38ac6817c62": false,
		"entry 12": false,
		"2026":     false,
	} {
		require.Equal(t, found, ShowsValue(text, "2"), text)
	}
	require.True(t, ShowsValue("for -1 seats", "-1"))
	require.True(t, ShowsValue("to Ada's room", "Ada"))
	require.False(t, ShowsValue("to Adam", "Ada"))
}
