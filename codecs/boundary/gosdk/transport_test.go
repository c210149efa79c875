package gosdk_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
)

// serverVariable is the environment variable that makes the test binary a
// server.
const serverVariable = "BOUNDARY_TEST_SERVER"

// TestMain runs the test binary as a server over standard input and output if
// serverVariable is set.
func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "fleet" {
		fmt.Fprintln(os.Stderr, runFleetServer())
		os.Exit(1)
	}
	if os.Getenv(serverVariable) != "" {
		server, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
		addOther(server)
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// states records the states that the handlers of a server received.
type states struct {
	mu  sync.Mutex
	all []string
}

func (s *states) add(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, state)
}

func (s *states) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.all
	s.all = nil
	return taken
}

// newServer makes a protected server with a tool, a prompt and a resource of
// two rounds each, and a tool that returns state without a question.
func newServer(p boundary.Policy) (*mcp.Server, *states) {
	impl := &mcp.Implementation{Name: service, Version: "1"}
	server, seen := mcp.NewServer(impl, nil), &states{}
	p.Logger = slog.New(slog.DiscardHandler)
	if _, err := gosdk.Protect(server, impl, p); err != nil {
		panic(err)
	}
	addAsking(server, seen)
	addWork(server, seen)
	return server, seen
}

// addWork adds a tool that returns state without a question.
func addWork(server *mcp.Server, seen *states) {
	mcp.AddTool(server, &mcp.Tool{Name: "work"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		seen.add(req.Params.RequestState)
		if req.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "half done"}, nil, nil
		}
		return &mcp.CallToolResult{Content: said(req.Params.RequestState + ", done")}, nil, nil
	})
}

const question = "asked for a name"

// addAsking adds a tool, a prompt and a resource that ask for a name and return
// it.
func addAsking(server *mcp.Server, seen *states) {
	ask := mcp.InputRequestMap{"name": &mcp.ElicitParams{
		Mode: "form", Message: "Your name?",
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
	}}
	answer := func(state string, answers mcp.InputResponseMap) (text string, known bool) {
		seen.add(state)
		form, ok := answers["name"].(*mcp.ElicitResult)
		if !ok || state != question {
			return "", false
		}
		return fmt.Sprint("Hello, ", form.Content["name"]), true
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if text, known := answer(req.Params.RequestState, req.Params.InputResponses); known {
			return &mcp.CallToolResult{Content: said(text)}, nil, nil
		}
		return &mcp.CallToolResult{RequestState: question, InputRequests: ask}, nil, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "greeting"}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if text, known := answer(req.Params.RequestState, req.Params.InputResponses); known {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: said(text)[0]}}}, nil
		}
		return &mcp.GetPromptResult{RequestState: question, InputRequests: ask}, nil
	})
	server.AddResource(&mcp.Resource{Name: "greeting", URI: "test://greeting"}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if text, known := answer(req.Params.RequestState, req.Params.InputResponses); known {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: text}}}, nil
		}
		return &mcp.ReadResourceResult{RequestState: question, InputRequests: ask, Contents: []*mcp.ResourceContents{}}, nil
	})
}

func said(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }

// manual returns client options that leave further rounds to the test.
func manual() *mcp.ClientOptions {
	return &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}
}

// connect connects the SDK's own client, which answers every form with a name.
func connect(t *testing.T, transport mcp.Transport, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	if o == nil {
		o = &mcp.ClientOptions{}
	}
	o.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, o)
	session, err := client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// requireRounds calls everything that the server offers.
func requireRounds(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	ctx := context.Background()
	tool, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "greet"})
	require.NoError(t, err)
	require.Equal(t, "Hello, Ada", tool.Content[0].(*mcp.TextContent).Text)
	prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greeting"})
	require.NoError(t, err)
	require.Equal(t, "Hello, Ada", prompt.Messages[0].Content.(*mcp.TextContent).Text)
	resource, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://greeting"})
	require.NoError(t, err)
	require.Equal(t, "Hello, Ada", resource.Contents[0].Text)
}

func requireWork(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	tool, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "work"})
	require.NoError(t, err)
	require.Equal(t, "half done, done", tool.Content[0].(*mcp.TextContent).Text)
}

// allSeen are the states that handlers get from requireRounds and requireWork.
var allSeen = []string{"", question, "", question, "", question, "", "half done"}

func TestInMemory(t *testing.T) {
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	there, here := mcp.NewInMemoryTransports()
	_, err := server.Connect(context.Background(), there, nil)
	require.NoError(t, err)
	session := connect(t, here, nil, "")
	requireRounds(t, session)
	requireWork(t, session)
	require.Equal(t, allSeen, seen.take())
}

func TestStdio(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"=1")
	cmd.Stderr = os.Stderr
	session := connect(t, &mcp.CommandTransport{Command: cmd}, nil, "")
	requireRounds(t, session)
	requireWork(t, session)
}

// serveHTTP serves without sessions, as revision 2026-07-28 requires. Clients
// have the bearer token "alice" or "bob".
func serveHTTP(t *testing.T, server *mcp.Server) *httptest.Server {
	t.Helper()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	s := httptest.NewServer(authenticated(h))
	t.Cleanup(s.Close)
	return s
}

// authenticated uses the bearer token as the name of the user.
func authenticated(h http.Handler) http.Handler {
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token}, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}

// bearer is an HTTP transport that adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(s *httptest.Server, user string) mcp.Transport {
	return transportTo(s.URL, user)
}

func transportTo(url, user string) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(user)}, DisableStandaloneSSE: true}
}

func TestHTTP(t *testing.T) {
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	session := connect(t, overHTTP(serveHTTP(t, server), "alice"), nil, "")
	requireRounds(t, session)
	requireWork(t, session)
	require.Equal(t, allSeen, seen.take())
}

// TestFleet sends the second round to another server with the same ring. It
// also presents the token as another user.
func TestFleet(t *testing.T) {
	ctx := context.Background()
	one, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	two, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(2), secret(1)}})
	asked, err := connect(t, overHTTP(serveHTTP(t, one), "alice"), manual(), "").CallTool(ctx, &mcp.CallToolParams{Name: "greet"})
	require.NoError(t, err)
	require.True(t, asked.NeedsInput())
	require.NotContains(t, asked.RequestState, question)

	fleet := serveHTTP(t, two)
	round := &mcp.CallToolParams{Name: "greet", RequestState: asked.RequestState, InputResponses: mcp.InputResponseMap{
		"name": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}},
	}}
	res, err := connect(t, overHTTP(fleet, "alice"), manual(), "").CallTool(ctx, round)
	require.NoError(t, err)
	require.Equal(t, "Hello, Ada", res.Content[0].(*mcp.TextContent).Text)
	require.Equal(t, []string{question}, seen.take())

	_, err = connect(t, overHTTP(fleet, "bob"), manual(), "").CallTool(ctx, round)
	require.ErrorContains(t, err, "Invalid or expired requestState")
	require.Empty(t, seen.take())
}

// TestOlderRevisions connects clients without requestState. The SDK asks for
// input on the server's behalf and calls the handler again.
func TestOlderRevisions(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
			there, here := mcp.NewInMemoryTransports()
			_, err := server.Connect(context.Background(), there, nil)
			require.NoError(t, err)
			session := connect(t, here, manual(), version)
			require.Equal(t, version, session.InitializeResult().ProtocolVersion)
			requireRounds(t, session)
			require.Equal(t, allSeen[:6], seen.take())

			res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "work"})
			require.NoError(t, err)
			require.NotContains(t, res.RequestState, "half done", "no state leaves unsealed")
			require.NotEmpty(t, res.RequestState)
		})
	}
}
