package review_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/internal/rawmcp"
)

// recorded returns the record of a review of a broken server.
func recorded(t *testing.T, fault string) string {
	t.Helper()
	var b strings.Builder
	x := row{fault: fault, change: func(o *review.Options) {
		o.Record = func(e *rawmcp.Exchange) {
			line, err := json.Marshal(map[string]any{"sent": string(e.Sent), "received": string(e.Received)})
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s\n", line)
		}
	}}
	x.review(t, []string{"RS-FRESH"})
	return b.String()
}

// TestTraffic judges the tokens of recorded reviews. A sound server must not be refuted, and each
// fault must show without a request.
func TestTraffic(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string][]string{
		"": nil, "published key": {"RS-CLEAR", "RS-KEY"}, "short tag": {"RS-CLEAR", "RS-TAG"}, "counted handles": {"RS-GUESS"},
		"one nonce": {"RS-FRESH", "RS-NONCE"}, "readable and careful": {"RS-CLEAR"},
	} {
		t.Run(fault, func(t *testing.T) {
			tokens, err := checks.ReadTraffic(strings.NewReader(recorded(t, fault)))
			require.NoError(t, err)
			require.NotEmpty(t, tokens)
			found := refutedBy(checks.Traffic(tokens, nil, nil), review.Critical, review.Warning, review.Suggestion)
			for _, id := range want {
				if id == "RS-FRESH" && found[id] == "" {
					id = "RS-NONCE" // either check finds equal nonces
				}
				require.Contains(t, found, id)
				delete(found, id)
			}
			delete(found, "RS-NONCE")
			require.Empty(t, found)
		})
	}
}

// TestTrafficForms reads tokens from archives, streams and session logs.
func TestTrafficForms(t *testing.T) {
	response := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"a token"}}`
	quoted := func(text string) string { raw, _ := json.Marshal(text); return string(raw) }
	for name, text := range map[string]string{
		"archive": `{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-11-22T01:02:03Z","request":{"postData":{"text":"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"}},"response":{"content":{"text":` + quoted("event: message\ndata: "+response+"\n\n") + `}}}]}}`,
		"lines":   "connected\n" + response + "\n",
		"events":  `{"direction":"in","message":` + response + `}`,
		"prefix":  "2026-11-22T01:02:03Z <- " + response,
	} {
		tokens, err := checks.ReadTraffic(strings.NewReader(text))
		require.NoError(t, err, name)
		require.Len(t, tokens, 1, name)
		require.Equal(t, "a token", tokens[0].Token, name)
		require.Equal(t, name == "archive", tokens[0].At.Equal(time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)), name)
	}
	_, err := checks.ReadTraffic(strings.NewReader("no traffic"))
	require.Error(t, err)
}
