package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/testenv"
	"sealab/vectors/generate"
	"sealab/vectors/replay"
)

// TestSDKsAgreeWithTheVectors runs every installed SDK against the vectors of the design that it mirrors,
// with which it must agree. It also runs the SDK against every other reading of the format, from which it
// may differ only as the vectors record.
func TestSDKsAgreeWithTheVectors(t *testing.T) {
	sdks, err := sdk.Mirrors(".")
	require.NoError(t, err)
	for _, s := range sdks {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if why := s.Unavailable(); why != "" {
				testenv.Skip(t, "%s", why)
			}
			client, err := s.Dial(worker.Limits{})
			require.NoError(t, err)
			defer client.Close()
			mirrored, err := catalog.Find(s.Mirrors)
			require.NoError(t, err)
			for _, d := range catalog.Formats() {
				if d.Name != mirrored.Name && !d.SharesFormat(mirrored) {
					continue
				}
				f, err := generate.File(d, catalog.Formats())
				require.NoError(t, err)
				r := replay.Run(f, client.Design(), replay.Demand{})
				t.Log(r.Summary())
				require.True(t, r.Stands(), "%s: %v", r.Summary(), wrong(r))
				if d.Name == mirrored.Name {
					require.NotContains(t, outcomes(r), replay.Otherwise, r.Summary())
				}
			}
		})
	}
}
