package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/bench"
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
