package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/client"
)

func TestHasWord(t *testing.T) {
	for _, text := range []string{"48151", "a 48151.", "148151, 48151", "é: 48151 €", "48151\n", "4815148151 48151"} {
		require.True(t, client.HasWord(text, "48151"), text)
	}
	for _, text := range []string{"", "148151", "48151a", "é48151", "48151²", "4815"} {
		require.False(t, client.HasWord(text, "48151"), text)
	}
}
