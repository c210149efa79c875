package timing

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/internal/runfile"
)

// answering starts a server whose responses contain only a token.
func answering(t *testing.T, token string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Method string `json:"method"`
		}
		text, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(text, &m) != nil || m.Method != "tools/call" {
			http.Error(w, "no call", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "event: message\ndata: {\"result\":{\"requestState\":%q}}\n\n", token)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestRemoteComparisons measures every comparison against a working server, a server with unknown tokens,
// and an unreachable server.
func TestRemoteComparisons(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	s, err := openSubject(catalog.All()[0], random, 1)
	require.NoError(t, err)
	token, err := s.codec.Seal(nil, []byte("state"))
	require.NoError(t, err)
	c := brief(t.TempDir())
	c.Budget = time.Nanosecond
	require.NoError(t, Run(Remote(answering(t, string(token))), c, func(s Step) { require.Empty(t, s.Skipped) }))
	files, err := runfile.ReadSampleFiles(c.Dir)
	require.NoError(t, err)
	require.Len(t, files, 5*passCount)

	c.Dir = t.TempDir()
	skipped := 0
	require.NoError(t, Run(Remote(answering(t, "no token of ours")), c, func(s Step) { skipped += len(s.Skipped) }))
	require.Positive(t, skipped)

	c.Dir = t.TempDir()
	require.ErrorContains(t, Run(Remote("http://127.0.0.1:1/"), c, func(Step) {}), "127.0.0.1:1")
	require.ErrorContains(t, Run(Remote(answering(t, "")), c, func(Step) {}), "want an answer with a requestState")
}

// TestChangedTokensDifferWhereTheyShould checks the changed byte in tokens of every design.
func TestChangedTokensDifferWhereTheyShould(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	apart := 0
	for _, d := range catalog.All() {
		s, err := openSubject(d, random, 1)
		require.NoError(t, err)
		token, err := s.codec.Seal(nil, plainPayload())
		require.NoError(t, err)
		prefix, raw, tag, err := splitToken(string(token))
		if err != nil {
			require.ErrorIs(t, err, errNotApplicable, d.Name)
			continue
		}
		apart++
		require.Positive(t, tag)
		require.Contains(t, string(token), prefix)
		require.Greater(t, len(raw), tag)
		for _, pair := range remotePairs {
			a, b, err := pair.bodies(string(token), random)
			require.NoError(t, err)
			require.Len(t, b[0], len(a[0]))
			require.NotContains(t, string(a[0]), string(token))
			require.NotContains(t, string(b[0]), string(token))
		}
	}
	require.GreaterOrEqual(t, apart, 3)
}
