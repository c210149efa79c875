package example_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/cmd/sealab/example"
)

const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + meta + `}}}`

const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`

// post sends a message of revision 2026-07-28 and returns the answer.
func post(t *testing.T, url, method, name, body string, change func(*http.Request)) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", method)
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

func TestHostAndOrigin(t *testing.T) {
	url := serve(t, newServer(t), "mcp.example.com")
	for _, c := range []struct {
		name, host, origin string
		want               int
	}{
		{"as it is", "", "", 200},
		{"localhost", "localhost:1234", "http://localhost:5173", 200},
		{"in capitals", "LOCALHOST", "http://LocalHost", 200},
		{"loopback v6", "[::1]:1234", "http://[::1]", 200},
		{"a host that was added", "mcp.example.com", "https://mcp.example.com", 200},
		{"rebound name", "evil.example", "", 403},
		{"rebound name with the page's origin", "evil.example", "http://evil.example", 403},
		{"page of another site", "localhost", "http://evil.example", 403},
		{"page of a name that begins alike", "localhost", "http://localhost.evil.example", 403},
		{"user information", "localhost", "http://localhost@evil.example", 403},
		{"sandboxed page", "localhost", "null", 403},
		{"file", "localhost", "file://localhost", 403},
		{"no host in it", "localhost", "http://", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := post(t, url, "server/discover", "", discover, func(r *http.Request) {
				if c.host != "" {
					r.Host = c.host
				}
				if c.origin != "" {
					r.Header.Set("Origin", c.origin)
				}
			})
			require.Equal(t, c.want, status, answer)
		})
	}
}

func TestOtherPathsAndBodies(t *testing.T) {
	url := serve(t, newServer(t))
	status, _ := post(t, strings.TrimSuffix(url, example.Path), "server/discover", "", discover, nil)
	require.Equal(t, http.StatusNotFound, status)
	status, _ = post(t, url, "server/discover", "", strings.Repeat(" ", 2<<20)+discover, nil)
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
}

// TestServeEnds ends the server while a stream is open that would never end.
func TestServeEnds(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	open, ended := make(chan struct{}), make(chan error, 1)
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(open)
		<-r.Context().Done()
	})
	go func() { ended <- example.Serve(ctx, l, h, time.Millisecond) }()
	go func() {
		if res, err := http.Get("http://" + l.Addr().String()); err == nil {
			res.Body.Close()
		}
	}()
	<-open
	stop()
	require.NoError(t, <-ended)
}
