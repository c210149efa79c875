package corpus_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/corpus"
)

func TestRoundTrip(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, input := range [][]byte{{}, []byte("plain"), []byte("\"quoted\"\n\xff`"), every, bytes.Repeat([]byte{0}, 5000)} {
		got, err := corpus.Unmarshal(corpus.Marshal(input))
		require.NoError(t, err)
		require.Equal(t, input, got)
	}
}

// TestName holds the name to one that the go command gave.
func TestName(t *testing.T) {
	require.Equal(t, "caf81e9797b19c76", corpus.Name([]byte("go test fuzz v1\n[]byte(\"\")\n")))
}

func TestUnmarshalRefuses(t *testing.T) {
	whole := corpus.Marshal([]byte("abc"))
	for _, file := range []string{"", "go test fuzz v1\n", "go test fuzz v2\n[]byte(\"a\")\n", "go test fuzz v1\nstring(\"a\")\n",
		"go test fuzz v1\n[]byte(\"a\")\n[]byte(\"b\")\n", string(whole[:len(whole)-3])} {
		_, err := corpus.Unmarshal([]byte(file))
		require.Error(t, err, "%q", file)
	}
}
