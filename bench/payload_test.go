package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/bench"
	"sealab/codecs"
	"sealab/internal/runfile"
)

func TestPayloadIsJSONOfTheExactSize(t *testing.T) {
	for _, n := range append(bench.Sizes(), 65, 333, 1000, 4097) {
		payload, err := bench.Payload(n)
		require.NoError(t, err)
		require.Len(t, payload, n)
		var state struct {
			Tool    string
			Answers map[string]struct{ Action string }
		}
		require.NoError(t, json.Unmarshal(payload, &state), "%s", payload)
		require.Equal(t, "deploy_release", state.Tool)
		again, err := bench.Payload(n)
		require.NoError(t, err)
		require.Equal(t, payload, again)
		if n >= 1024 {
			require.NotEmpty(t, state.Answers)
		}
	}
}

func TestPayloadRefusesSizesItCannotFill(t *testing.T) {
	for _, n := range []int{-1, 0, bench.MinPayload - 1, bench.MaxPayload + 1} {
		_, err := bench.Payload(n)
		require.ErrorContains(t, err, "sizes go from")
	}
}

// A recorder is a codec whose tokens equal the payloads. It counts each payload.
type recorder map[string]int

func (r recorder) Seal(dst, payload []byte) ([]byte, error) {
	r[string(payload)]++
	return append(dst, payload...), nil
}

func (r recorder) Unseal(dst, token []byte) ([]byte, error) { return append(dst, token...), nil }

func TestEverySealHasAnotherPayload(t *testing.T) {
	for _, n := range bench.Sizes() {
		seen := recorder{}
		design := codecs.Design{Name: "recorder", NewCodec: func(codecs.Config) (codecs.Codec, error) { return seen, nil }}
		payload, err := bench.Payload(n)
		require.NoError(t, err)
		op, err := bench.FromDesign(design).Prepare(runfile.Seal, payload)
		require.NoError(t, err)
		clear(seen)
		_, err = op.Run(1000)
		require.NoError(t, err)
		require.Len(t, seen, 1000)
		for sealed := range seen {
			require.Len(t, sealed, n)
			require.True(t, json.Valid([]byte(sealed)), sealed)
		}
	}
}
