package worker_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/testenv"
)

// TestMemoryTellsAPeak checks that the peak rises while a worker opens a long
// token, and that the next reading starts from a new peak.
func TestMemoryTellsAPeak(t *testing.T) {
	const long = 8 << 20
	client := dial(t, "codec", worker.Limits{})
	design := client.Design()
	codec, err := design.OpenCodec(codecs.Config{Secrets: [][]byte{make([]byte, 32)}})
	require.NoError(t, err)
	before, err := client.Memory()
	if errors.Is(err, codecs.ErrUnsupported) {
		testenv.Skip(t, "%s", err)
	}
	require.NoError(t, err)
	require.NotZero(t, before.Resident)
	require.GreaterOrEqual(t, before.Mapped, before.Peak)
	_, err = codec.Unseal(nil, bytes.Repeat([]byte("A"), long))
	require.NotNil(t, codecs.Rejected(err), "%v", err)
	during, err := client.Memory()
	require.NoError(t, err)
	require.Greater(t, during.Peak, before.Resident+long, "the text itself was held")
	after, err := client.Memory()
	require.NoError(t, err)
	require.LessOrEqual(t, after.Peak, during.Peak)
	require.GreaterOrEqual(t, after.Mapped, during.Mapped)
}

// TestMemoryOfNoProcess asks a closed client for its memory.
func TestMemoryOfNoProcess(t *testing.T) {
	client := dial(t, "codec", worker.Limits{})
	require.NoError(t, client.Close())
	_, err := client.Memory()
	require.ErrorIs(t, err, codecs.ErrFault)
}
