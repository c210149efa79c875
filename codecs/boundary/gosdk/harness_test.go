package gosdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
)

const service = "svc"

var noon = time.Unix(1_795_164_472, 0)

func secret(b byte) []byte {
	s := make([]byte, 32)
	for i := range s {
		s[i] = b + byte(i)
	}
	return s
}

// A bench calls a handler through a boundary, without a transport.
type bench struct {
	t       *testing.T
	handler mcp.MethodHandler // the boundary around next
	next    mcp.MethodHandler
	now     time.Time
	log     bytes.Buffer
	seen    []string // the states that next received
}

// newBench makes a boundary of the policy. It adds the bench's clock and log,
// and a ring if the policy has no keys. The handler always asks and returns a
// state.
func newBench(t *testing.T, p boundary.Policy) *bench {
	t.Helper()
	return newBenchOf(t, p, gosdk.TokenPrincipal)
}

func newBenchOf(t *testing.T, p boundary.Policy, principal gosdk.PrincipalFunc) *bench {
	t.Helper()
	b := &bench{t: t, now: noon}
	p.Now = func() time.Time { return b.now }
	p.Logger = slog.New(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if p.Secrets == nil && p.Scheme == nil {
		p.Secrets = [][]byte{secret(1)}
	}
	b.next = askWith("a state")
	protect, err := boundary.New(service, p)
	require.NoError(t, err)
	b.handler = gosdk.Middleware(protect, principal)(func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		b.seen = append(b.seen, stateOf(req))
		return b.next(ctx, method, req)
	})
	return b
}

// stateOf returns the requestState of a request.
func stateOf(req mcp.Request) string {
	switch p := req.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		return p.RequestState
	case *mcp.GetPromptParams:
		return p.RequestState
	case *mcp.ReadResourceParams:
		return p.RequestState
	}
	return ""
}

// askWith returns a handler that always asks for more and returns the state.
func askWith(state string) mcp.MethodHandler {
	ask := mcp.InputRequestMap{"more": &mcp.ElicitParams{Message: "more?"}}
	return func(_ context.Context, method string, _ mcp.Request) (mcp.Result, error) {
		switch method {
		case "tools/call":
			return &mcp.CallToolResult{RequestState: state, InputRequests: ask}, nil
		case "prompts/get":
			return &mcp.GetPromptResult{RequestState: state, InputRequests: ask}, nil
		case "resources/read":
			return &mcp.ReadResourceResult{RequestState: state, InputRequests: ask}, nil
		}
		return &mcp.ListToolsResult{}, nil
	}
}

// call sends a request through the boundary.
func (b *bench) call(c call) (mcp.Result, error) {
	return b.handler(context.Background(), c.method, c.request())
}

// mint returns the token of the handler's state.
func (b *bench) mint(c call) string {
	b.t.Helper()
	c.token = ""
	res, err := b.call(c)
	require.NoError(b.t, err)
	token := tokenOf(res)
	require.NotEmpty(b.t, token)
	return token
}

func tokenOf(res mcp.Result) string {
	switch r := res.(type) {
	case *mcp.CallToolResult:
		return r.RequestState
	case *mcp.GetPromptResult:
		return r.RequestState
	case *mcp.ReadResourceResult:
		return r.RequestState
	}
	return ""
}

// A call describes a request.
type call struct {
	method, target, arguments string
	token                     string
	user                      *auth.TokenInfo
}

func (c call) request() mcp.Request {
	extra := &mcp.RequestExtra{TokenInfo: c.user}
	switch c.method {
	case "tools/call":
		p := &mcp.CallToolParamsRaw{Name: c.target, RequestState: c.token}
		if c.arguments != "" {
			p.Arguments = json.RawMessage(c.arguments)
		}
		return &mcp.CallToolRequest{Params: p, Extra: extra}
	case "prompts/get":
		p := &mcp.GetPromptParams{Name: c.target, RequestState: c.token}
		if c.arguments != "" {
			if err := json.Unmarshal([]byte(c.arguments), &p.Arguments); err != nil {
				panic(err)
			}
		}
		return &mcp.GetPromptRequest{Params: p, Extra: extra}
	case "resources/read":
		return &mcp.ReadResourceRequest{Params: &mcp.ReadResourceParams{URI: c.target, RequestState: c.token}, Extra: extra}
	}
	return &mcp.ListToolsRequest{Params: &mcp.ListToolsParams{}, Extra: extra}
}

// calls has one call of each method that carries state.
var calls = []call{
	{method: "tools/call", target: "deploy", arguments: `{"to":"prod"}`},
	{method: "prompts/get", target: "report", arguments: `{"of":"today"}`},
	{method: "resources/read", target: "test://vault"},
}

// requireRefused checks that err is the answer to a refused token.
func requireRefused(t *testing.T, err error) {
	t.Helper()
	refusal := requireError(t, err, -32602, "Invalid or expired requestState")
	require.JSONEq(t, `{"reason":"invalid_request_state"}`, string(refusal.Data))
}

// requireFault checks the answer to a fault of the server.
func requireFault(t *testing.T, err error) {
	t.Helper()
	require.Empty(t, requireError(t, err, -32603, "Internal error").Data)
}

// requireError checks the code and the message of an error answer.
func requireError(t *testing.T, err error, code int64, message string) *jsonrpc.Error {
	t.Helper()
	answer, bare := err.(*jsonrpc.Error)
	require.True(t, bare, "want a bare *jsonrpc.Error, got %T: %v", err, err)
	require.Equal(t, code, answer.Code)
	require.Equal(t, message, answer.Message)
	return answer
}
