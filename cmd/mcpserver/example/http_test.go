package example_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/example"
)

const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + meta + `}}}`

const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`

// request returns a message of revision 2026-07-28.
func request(t *testing.T, url, method, name, body string) *http.Request {
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
	return req
}

// post sends a message and returns the answer.
func post(t *testing.T, url, method, name, body string, change func(*http.Request)) (status int, answer string) {
	t.Helper()
	req := request(t, url, method, name, body)
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

func TestOtherHostsPathsAndBodies(t *testing.T) {
	url := serve(t, newServer(t), "mcp.example.com")
	for host, want := range map[string]int{"mcp.example.com": http.StatusOK, "evil.example": http.StatusForbidden} {
		status, answer := post(t, url, "server/discover", "", discover, func(r *http.Request) { r.Host = host })
		require.Equal(t, want, status, answer)
	}
	status, _ := post(t, strings.TrimSuffix(url, example.Path), "server/discover", "", discover, nil)
	require.Equal(t, http.StatusNotFound, status)
	status, _ = post(t, url, "server/discover", "", strings.Repeat(" ", 2<<20)+discover, nil)
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
}

// TestLargeBodiesThatListen holds more streams open than large bodies are decoded at once. Each
// stream starts with a large chunked body. The test then sends one more.
func TestLargeBodiesThatListen(t *testing.T) {
	url := serve(t, newServer(t))
	space := strings.Repeat(" ", 100<<10)
	for range 4 {
		listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` + meta + `}}}`
		req := request(t, url, "subscriptions/listen", "", listen+space)
		req.ContentLength = -1
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	status, answer := post(t, url, "server/discover", "", discover+space, nil)
	require.Equal(t, http.StatusOK, status, answer)
}

// TestServeEnds ends the server while an endless stream is open.
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
	go func() { ended <- example.Serve(ctx, l, h, example.BodyTimeout, time.Millisecond) }()
	go func() {
		if res, err := http.Get("http://" + l.Addr().String()); err == nil {
			res.Body.Close()
		}
	}()
	<-open
	stop()
	require.NoError(t, <-ended)
}

// TestSlowBodyIsCutOff sends part of a body and then waits. An earlier stream of another request
// must go on.
func TestSlowBodyIsCutOff(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	streaming, ended := make(chan context.Context, 1), make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusRequestTimeout)
			return
		}
		streaming <- r.Context()
		<-r.Context().Done()
	})
	go func() { ended <- example.Serve(ctx, l, h, 50*time.Millisecond, time.Millisecond) }()
	send := func(body string) net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n%s", body)
		require.NoError(t, err)
		return conn
	}
	send("0123456789")
	stream := <-streaming
	answer, err := io.ReadAll(send("012"))
	require.NoError(t, err)
	require.Contains(t, string(answer), "408 Request Timeout")
	require.NoError(t, stream.Err())
	stop()
	require.NoError(t, <-ended)
}
