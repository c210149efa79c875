package gosdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

// transfer holds the arguments of the handlers of
// TestApprovedArgumentsAreExecuted.
type transfer struct {
	Transfer struct {
		To     string      `json:"to"`
		Amount json.Number `json:"amount"`
	} `json:"transfer"`
	Limit  json.Number `json:"limit"`
	Amount json.Number `json:"amount"`
	To     string      `json:"to"`
}

// readers are three parsers of a tool's arguments. Each prints the values it
// read.
var readers = map[string]func(json.RawMessage) string{
	"encoding/json": func(raw json.RawMessage) string {
		var in transfer
		if err := json.Unmarshal(raw, &in); err != nil {
			return "error"
		}
		return fmt.Sprintf("%+v", in)
	},
	"first member": func(raw json.RawMessage) string {
		v, err := firstMembers(json.NewDecoder(bytes.NewReader(raw)))
		return fmt.Sprint(v, err)
	},
}

// firstMembers reads a value as some parsers do that keep the first of repeated
// members: fastjson, gjson, jsonparser.
func firstMembers(d *json.Decoder) (any, error) {
	d.UseNumber()
	token, err := d.Token()
	if err != nil || token != json.Delim('{') {
		return token, err
	}
	object := map[string]any{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := firstMembers(d)
		if err != nil {
			return nil, err
		}
		if _, seen := object[name.(string)]; !seen {
			object[name.(string)] = value
		}
	}
	_, err = d.Token()
	return object, err
}

// confusions are pairs of arguments that had the same digest in commit 1989b18.
// The first of a pair is approved, the second is executed.
var confusions = [][2]string{
	{`{"transfer":{"to":"bob"}}`, `{"transfer":{"amount":1000000},"transfer":{"to":"bob"}}`},
	{`{"transfer":{"to":"bob"},"limit":null}`, `{"limit":999,"transfer":{"to":"bob"},"limit":null}`},
	{`{"amount":1}`, `{"amount":1000000,"amount":1}`},
	{`{"transfer":{"amount":1}}`, `{"transfer":{"amount":1000000,"\u0061mount":1}}`},
	{`{"amount":1,"Amount":2}`, `{"Amount":2,"amount":1}`},
	{`{"to":"\ud800"}`, "{\"to\":\"\xed\xa0\x80\"}"},
	{`{"amount":1e400}`, `{"amount":1e999999999}`},
	{`{"amount":9007199254740993.0}`, `{"amount":9007199254740992.0}`},
	{`{"amount":0.1}`, `{"amount":0.1000000000000000055511151231257827}`},
	{`{"amount":0}`, `{"amount":-0}`},
	{`{}`, `[]`}, {`{}`, `""`}, {`{}`, `0`}, {`{}`, `false`},
}

// addTransfers adds tools that approve the arguments of the first round and
// execute those of the second: one tool for each reader, and a typed one.
func addTransfers(server *mcp.Server) {
	answer := func(read, state string) *mcp.CallToolResult {
		if state == "" {
			return &mcp.CallToolResult{RequestState: "approved " + read, InputRequests: mcp.InputRequestMap{}}
		}
		return &mcp.CallToolResult{Content: said(state + " executing " + read)}
	}
	for name, read := range readers {
		tool := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		server.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer(read(req.Params.Arguments), req.Params.RequestState), nil
		})
	}
	mcp.AddTool(server, &mcp.Tool{Name: "typed", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
			return answer(fmt.Sprint(in), req.Params.RequestState), nil, nil
		})
}

// TestApprovedArgumentsAreExecuted presents each pair both ways over HTTP. A
// call that was approved with one value must not execute another.
func TestApprovedArgumentsAreExecuted(t *testing.T) {
	server, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	addTransfers(server)
	url := serveHTTP(t, server).URL
	pairs := confusions
	for _, c := range confusions {
		pairs = append(pairs, [2]string{c[1], c[0]}, [2]string{c[0], c[0]}, [2]string{c[1], c[1]})
	}
	executed := 0
	for _, tool := range []string{"encoding/json", "first member", "typed"} {
		for _, c := range pairs {
			_, token, minted := strings.Cut(post(t, url, tool, c[0], `""`), `"requestState":"`)
			if !minted {
				continue
			}
			token, _, _ = strings.Cut(token, `"`)
			body := post(t, url, tool, c[1], `"`+token+`"`)
			_, said, ok := strings.Cut(body, `"text":"approved `)
			if !ok {
				require.Contains(t, body, "Invalid or expired requestState")
				continue
			}
			executed++
			approved, rest, _ := strings.Cut(said, " executing ")
			done, _, _ := strings.Cut(rest, `"}`)
			require.Equal(t, approved, done, "%s: %s, then %s", tool, c[0], c[1])
		}
	}
	require.GreaterOrEqual(t, executed, 3*len(confusions)/2, "sound calls are executed")
}

// post sends a tools/call with the given arguments and state in JSON. It
// returns the body of the answer.
func post(t *testing.T, url, tool, arguments, state string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"requestState":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, tool, arguments, state)
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer alice",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(answer)
}

// TestUnbindableArguments checks the answers to arguments that cannot be bound:
// an error of their own if there is no token, else that of a refused token.
func TestUnbindableArguments(t *testing.T) {
	for name, arguments := range map[string]string{"ambiguous": `{"a":1,"a":1}`, "long": `{"a":"` + strings.Repeat("a", 1000) + `"}`} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, boundary.Policy{MaxArguments: 1000})
			c := calls[0]
			good := b.mint(c)
			c.arguments = arguments
			_, err := b.call(c)
			require.ErrorContains(t, err, "Invalid arguments")
			require.Len(t, b.seen, 2)
			c.token = good
			_, err = b.call(c)
			requireRefused(t, err)
			require.Len(t, b.seen, 2, "the handler was called")
		})
	}
	b := newBench(t, boundary.Policy{MaxArguments: 1000})
	_, err := b.call(call{method: "prompts/get", target: "p", arguments: `{"a":"` + strings.Repeat("a", 1000) + `"}`})
	require.ErrorContains(t, err, "Invalid arguments")
}

// TestLongArgumentsCostNothing presents a valid token beside 4 MB of other
// arguments. They are refused without being copied or digested.
func TestLongArgumentsCostNothing(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	c := calls[0]
	c.token = b.mint(c)
	c.arguments = `{"":[` + strings.TrimSuffix(strings.Repeat("0,", 2<<20), ",") + `]}`
	req := c.request()
	handler := b.handler
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := handler(context.Background(), c.method, req)
	runtime.ReadMemStats(&after)
	requireRefused(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<10))
}

// TestArgumentsHeap presents arguments of the maximum length in their most
// costly forms. The digest and the check may each take 4 bytes of heap per
// byte.
func TestArgumentsHeap(t *testing.T) {
	for _, part := range []string{"0,", "[],", `{"":0},`} {
		b := newBench(t, boundary.Policy{Now: time.Now, Logger: slog.Default()})
		c := calls[0]
		c.arguments = `{"a":1}`
		c.token = b.mint(c)
		c.arguments = `{"":[` + strings.TrimSuffix(strings.Repeat(part, (boundary.DefaultMaxArguments-100)/len(part)), ",") + `]}`
		req := c.request()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := b.handler(context.Background(), c.method, req)
		runtime.ReadMemStats(&after)
		requireRefused(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(9*boundary.DefaultMaxArguments), part)
	}
}
