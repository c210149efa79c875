package mcpgo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/mcpgo"
)

type userKey struct{}

// user returns the value of the header Authorization as the principal. A real
// server would verify a token.
func user(ctx context.Context) (*string, error) {
	if name, ok := ctx.Value(userKey{}).(string); ok && name != "" {
		return &name, nil
	}
	return nil, nil
}

// serve serves a tool, a prompt and a resource with two rounds each.
func serve(t *testing.T, p boundary.Policy) string {
	t.Helper()
	p.Logger = slog.New(slog.DiscardHandler)
	if p.Secrets == nil {
		p.Secrets = [][]byte{[]byte("32 random bytes or more, in tests")}
	}
	protect, _, err := mcpgo.Protect("svc", p, user)
	require.NoError(t, err)
	srv := server.NewMCPServer("svc", "1", server.WithToolCapabilities(true), protect)
	next := func(state string) (mcp.MultiRoundTripResult, string) {
		if state == "" {
			return mcp.MultiRoundTripResult{RequestState: "plain state"}, ""
		}
		return mcp.MultiRoundTripResult{}, "got " + state
	}
	srv.AddTool(mcp.NewTool("greet", mcp.WithSchemaAdditionalProperties(true)), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ask, text := next(req.Params.RequestState)
		if text != "" {
			return mcp.NewToolResultText(fmt.Sprint(text, " for ", req.GetArguments())), nil
		}
		return &mcp.CallToolResult{MultiRoundTripResult: ask}, nil
	})
	srv.AddTool(mcp.NewTool("wrong"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := mcp.NewToolResultText("done")
		res.RequestState = "plain state"
		return res, nil
	})
	srv.AddPrompt(mcp.NewPrompt("report"), func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		ask, text := next(req.Params.RequestState)
		return &mcp.GetPromptResult{MultiRoundTripResult: ask, Description: text}, nil
	})
	srv.AddResource(mcp.NewResource("test://vault", "vault"), func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, Text: "state " + req.Params.RequestState}}, nil
	})
	h := server.NewStreamableHTTPServer(srv, server.WithStateLess(true), server.WithHTTPContextFunc(func(ctx context.Context, r *http.Request) context.Context {
		return context.WithValue(ctx, userKey{}, r.Header.Get("Authorization"))
	}))
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// A request names the method, the target and the user, with the JSON of the
// parameters.
type request struct{ method, target, user, params string }

// answer is the part of a response that the tests read.
type answer struct {
	Result struct {
		ResultType, RequestState, Description string
		Content                               []struct{ Text string }
		Contents                              []struct{ Text string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

func post(t *testing.T, url string, r request) (a answer) {
	t.Helper()
	name := "name"
	if r.method == "resources/read" {
		name = "uri"
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%q:%q%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`, r.method, name, r.target, r.params)
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for header, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": r.user,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": r.method, "Mcp-Name": r.target,
	} {
		req.Header.Set(header, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"plain state"`)
	if i := bytes.Index(raw, []byte("data: {")); i >= 0 {
		raw, _, _ = bytes.Cut(raw[i+len("data: "):], []byte("\n"))
	}
	require.NoError(t, json.Unmarshal(raw, &a), "%s", raw)
	return a
}

// with returns the request with the token added.
func (r request) with(token string) request {
	r.params += fmt.Sprintf(`,"requestState":%q`, token)
	return r
}

func TestRounds(t *testing.T) {
	url := serve(t, boundary.Policy{})
	greet := request{"tools/call", "greet", "alice", `,"arguments":{"to":"bob"}`}
	asked := post(t, url, greet).Result
	require.Equal(t, "input_required", asked.ResultType)
	require.Equal(t, "got plain state for map[to:bob]", post(t, url, greet.with(asked.RequestState)).Result.Content[0].Text)
	for name, r := range map[string]request{
		"tampered":  greet.with(asked.RequestState + "x"),
		"arguments": request{"tools/call", "greet", "alice", `,"arguments":{"to":"eve"}`}.with(asked.RequestState),
		"repeated":  request{"tools/call", "greet", "alice", `,"arguments":{"to":"eve","to":"bob"}`}.with(asked.RequestState),
		"user":      request{"tools/call", "greet", "bob", greet.params}.with(asked.RequestState),
		"nobody":    request{"tools/call", "greet", "", greet.params}.with(asked.RequestState),
		"tool":      request{"tools/call", "wrong", "alice", greet.params}.with(asked.RequestState),
		"prompt":    request{"prompts/get", "report", "alice", ""}.with(asked.RequestState),
		"resource":  request{"resources/read", "test://vault", "alice", ""}.with(asked.RequestState),
	} {
		refused := post(t, url, r)
		require.NotNil(t, refused.Error, name)
		require.Equal(t, "Invalid or expired requestState", refused.Error.Message, name)
	}
	require.Contains(t, post(t, url, request{"tools/call", "greet", "alice", `,"arguments":{"a":1,"a":2}`}).Error.Message, "Invalid arguments")
	require.Equal(t, "Internal error", post(t, url, request{"tools/call", "wrong", "alice", ""}).Error.Message)

	report := request{"prompts/get", "report", "alice", `,"arguments":{"of":"today"}`}
	asked = post(t, url, report).Result
	require.Equal(t, "got plain state", post(t, url, report.with(asked.RequestState)).Result.Description)
	require.Equal(t, "state ", post(t, url, request{"resources/read", "test://vault", "alice", ""}).Result.Contents[0].Text)
}

// TestSingleUse uses the in-memory store of package boundary.
func TestSingleUse(t *testing.T) {
	store, err := boundary.NewMemory(10, 10)
	require.NoError(t, err)
	url := serve(t, boundary.Policy{Store: store})
	greet := request{"tools/call", "greet", "alice", ""}
	again := greet.with(post(t, url, greet).Result.RequestState)
	require.Nil(t, post(t, url, again).Error)
	require.NotNil(t, post(t, url, again).Error)
}

func TestWrongPolicy(t *testing.T) {
	_, _, err := mcpgo.Protect("", boundary.Policy{Secrets: [][]byte{{1}}}, nil)
	require.ErrorContains(t, err, "boundary: ")
}
