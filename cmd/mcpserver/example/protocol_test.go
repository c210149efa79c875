package example_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/example"
	"sealab/internal/testenv"
)

// rpcError is the error of an answer and the ID of its request.
type rpcError struct {
	ID    json.RawMessage
	Error *struct {
		Code int
		Data struct{ Supported []string }
	}
}

func errorOf(t *testing.T, answer string) rpcError {
	t.Helper()
	if _, data, found := strings.Cut(answer, "data: {"); found {
		answer, _, _ = strings.Cut("{"+data, "\n")
	}
	var e rpcError
	require.NoError(t, json.Unmarshal([]byte(answer), &e), "%s", answer)
	return e
}

const callPrimes = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count_primes","arguments":{"below":30000},"_meta":{` + meta + `}}}`

// TestHTTPRepairs sends the requests that the SDK answers differently.
func TestHTTPRepairs(t *testing.T) {
	url := serve(t, newServer(t))
	encode := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	for _, c := range []struct {
		name   string
		change func(http.Header)
		code   int // 0: a result
	}{
		{"as it must be", func(http.Header) {}, 0},
		{"name in base64", func(h http.Header) { h.Set("Mcp-Name", encode("count_primes")) }, 0},
		{"another name in base64", func(h http.Header) { h.Set("Mcp-Name", encode("update_work_item")) }, -32020},
		{"bad base64", func(h http.Header) { h.Set("Mcp-Name", "=?base64?!!?=") }, -32020},
		{"no end", func(h http.Header) { h.Set("Mcp-Name", "=?base64?AAAA") }, -32020},
		{"not UTF-8", func(h http.Header) { h.Set("Mcp-Name", encode("\xff")) }, -32020},
		{"name twice", func(h http.Header) { h.Add("Mcp-Name", "update_work_item") }, -32020},
		{"method twice", func(h http.Header) { h.Add("Mcp-Method", "tools/call") }, -32020},
		{"version twice", func(h http.Header) { h.Add("Mcp-Protocol-Version", "2025-06-18") }, -32020},
		{"authorization twice", func(h http.Header) { h["Authorization"] = []string{"Bearer a", "Bearer b"} }, -32020},
		{"Last-Event-ID", func(h http.Header) { h.Set("Last-Event-ID", "5") }, 0},
		{"old version", func(h http.Header) { h.Set("Mcp-Protocol-Version", "1900-01-01") }, -32022},
		{"new version", func(h http.Header) { h.Set("Mcp-Protocol-Version", "2999-01-01") }, -32022},
		{"no version", func(h http.Header) { h.Set("Mcp-Protocol-Version", "banana") }, -32022},
	} {
		status, answer := post(t, url, "tools/call", "count_primes", callPrimes, func(r *http.Request) { c.change(r.Header) })
		e := errorOf(t, answer)
		if c.code == 0 {
			require.Equal(t, http.StatusOK, status, c.name)
			require.Nil(t, e.Error, c.name)
			continue
		}
		require.Equal(t, http.StatusBadRequest, status, c.name)
		require.NotNil(t, e.Error, c.name)
		require.Equal(t, c.code, e.Error.Code, c.name)
		if c.code == -32022 {
			require.Equal(t, "7", string(e.ID), c.name)
			require.Contains(t, e.Error.Data.Supported, "2026-07-28", c.name)
		}
	}
	status, answer := post(t, url, "tools/call", "count_primes", strings.Replace(callPrimes, "2026-07-28", "1900-01-01", 1), nil)
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, -32020, errorOf(t, answer).Error.Code, "header and body differ")
}

// TestDisconnectCancels closes the connection of a call. Its handler waits for the cancellation.
func TestDisconnectCancels(t *testing.T) {
	server := newServer(t)
	started, canceled := make(chan struct{}), make(chan struct{})
	mcp.AddTool(server, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		close(started)
		<-ctx.Done()
		close(canceled)
		return nil, nil, ctx.Err()
	})
	url := serve(t, server)
	ctx, cancel := context.WithCancel(context.Background())
	body := strings.NewReplacer("count_primes", "slow", `{"below":30000}`, "{}").Replace(callPrimes)
	req := request(t, url, "tools/call", "slow", body).WithContext(ctx)
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	<-started
	cancel()
	select {
	case <-canceled:
	case <-time.After(30 * time.Second):
		t.Fatal("the handler runs on")
	}
}

// TestStdioLines sends lines that are not messages, and then a request. Every one must be answered,
// and the server must go on.
func TestStdioLines(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	server := newServer(t)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(context.Background(), example.Stdio(in, out)) }()
	lines := bufio.NewReaderSize(receive, 1<<20)
	read := func() rpcError {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return errorOf(t, line)
	}
	old := strings.Replace(callPrimes, "2026-07-28", "1900-01-01", 1)
	go func() {
		for _, line := range []string{"not JSON", "5", "\x00", `{"jsonrpc":"2.0","id":1,"method":"` + "\xff" + `"}`, strings.Repeat(" ", 10), "", "[" + discover + "]", "{}",
			strings.Repeat("[", 100_000), `{"jsonrpc":"1.0","id":1,"method":"ping"}`, strings.Repeat("x", 3<<20), old, discover + "\r"} {
			if _, err := fmt.Fprintln(send, line); err != nil {
				return
			}
		}
	}()
	for _, code := range []int{-32700, -32600, -32700, -32700, -32600, -32600, -32700, -32600, -32600, -32022} {
		e := read()
		require.NotNil(t, e.Error)
		require.Equal(t, code, e.Error.Code)
	}
	e := read()
	require.Nil(t, e.Error)
	require.Equal(t, "1", string(e.ID))
	require.NoError(t, send.Close())
	require.NoError(t, <-ended)
}

// TestHostileBodies sends 64 requests of 1 MB with a good token at once, or 2 in a sample. The heap
// must stay below 300 MB.
func TestHostileBodies(t *testing.T) {
	requests := 64
	if testenv.Sample() {
		requests = 2
	}
	h := httptest.NewServer(example.Handler(newServer(t), nil, slog.New(slog.DiscardHandler)))
	t.Cleanup(h.Close)
	_, answer := post(t, h.URL+example.Path, "tools/call", "count_primes", callPrimes, nil)
	_, token, found := strings.Cut(answer, `"requestState":"`)
	require.True(t, found, answer)
	token, _, _ = strings.Cut(token, `"`)
	junk := strings.TrimSuffix(strings.Repeat("0,", 500_000), ",")
	body := strings.NewReplacer(`{"below":30000}`, `{"below":[`+junk+`]}`, `"name":"count_primes"`, `"name":"count_primes","requestState":"`+token+`"`).Replace(callPrimes)
	var peak uint64
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	var all sync.WaitGroup
	for range requests {
		req := request(t, h.URL+example.Path, "tools/call", "count_primes", body)
		all.Go(func() {
			res, err := http.DefaultClient.Do(req)
			if !assert.NoError(t, err) {
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			assert.NoError(t, err)
			assert.Contains(t, string(text), "Invalid or expired requestState")
		})
	}
	all.Wait()
	close(done)
	<-sampled
	t.Logf("peak of the heap: %d MB", peak>>20)
	require.Less(t, peak, uint64(300<<20))
}
