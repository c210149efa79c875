package review_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/broken/mcp"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// TestQueryCredentials checks that reports and records omit a credential that was sent with escapes
// in a URL.
func TestQueryCredentials(t *testing.T) {
	const secret = "al/ice+secret=="
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := mcp.New(mcp.Clock(client.SystemClock()))
		s.Users = true
		if r.Header.Get("Authorization") == "Bearer "+secret || r.URL.Query().Get("access_token") == secret {
			r.Header.Set("Authorization", "Bearer alice")
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	var record strings.Builder
	report, err := review.Run(context.Background(), checks.All(), review.Options{
		Target: client.Target{URL: server.URL + "/mcp", Headers: []rawmcp.Header{{Name: "X-Empty"}, {Name: "Authorization", Value: "Bearer " + secret}}},
		Checks: []string{"A-QUERY"}, Seed: 1, Budget: 100,
		Record: func(e *rawmcp.Exchange) { fmt.Fprintf(&record, "%s %s\n", e.Sent, e.Received) },
	})
	require.NoError(t, err)
	require.Contains(t, refutedBy(report, review.Warning), "A-QUERY", describe(report))
	raw, err := json.Marshal(report)
	require.NoError(t, err)
	for _, text := range []string{string(raw), record.String()} {
		require.False(t, strings.Contains(text, url.QueryEscape(secret)) || strings.Contains(text, secret), "holds the credential")
	}
	require.True(t, strings.Contains(record.String(), "access_token=<credential>"))
}

// TestCurl runs the commands of findings. Each must send a request of the review again, or be
// absent if the body is long.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		testenv.Skip(t, "there is no curl")
	}
	var mu sync.Mutex
	seen, last := map[string]bool{}, ""
	broken := mcp.New(mcp.Clock(client.SystemClock()), "any type", "any verb", "Accept is a fault")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		last = fmt.Sprintf("%s %q %q %q", r.Method, r.Header["Accept"], r.Header["Content-Type"], body)
		seen[last] = true
		mu.Unlock()
		careless := bytes.ToValidUTF8(body, []byte("?"))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(careless)), int64(len(careless))
		if strings.HasPrefix(string(body), "[[") {
			http.Error(w, "deep", http.StatusBadRequest)
			return
		}
		broken.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	report, err := review.Run(context.Background(), checks.All(), review.Options{Target: client.Target{URL: server.URL + "/mcp"},
		Checks: []string{"H-JSON", "H-TYPE", "H-ACCEPT", "H-VERB"}, Seed: 1, Budget: 500})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	commands := map[string]string{}
	for _, f := range report.Findings {
		commands[f.Case] = f.Curl
		if f.Curl == "" {
			continue
		}
		require.True(t, utf8.ValidString(f.Curl), "%q", f.Curl)
		mu.Lock()
		last = ""
		mu.Unlock()
		out, err := exec.CommandContext(ctx, "sh", "-c", f.Curl).CombinedOutput()
		mu.Lock()
		require.True(t, last != "" && seen[last], "%s sent %s: %s, %v", f.Curl, last, out, err)
		seen[last] = false // so that a second command cannot match it
		mu.Unlock()
	}
	require.Empty(t, commands["10,000 nested arrays"], "the body is too long for a command")
	for _, name := range []string{"invalid UTF-8", "Accept text/html", "Content-Type ", "HEAD"} {
		require.NotEmpty(t, commands[name], describe(report))
	}
}
