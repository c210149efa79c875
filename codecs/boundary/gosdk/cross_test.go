package gosdk_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

var presentations = flag.Int("presentations", 150, "cross-presentations, and mutated states, for each transport")

// A place is the context of a call: the user's session, the tool and its
// arguments.
type place struct {
	user, tool string
	arguments  map[string]any
}

// places returns contexts of the given users, which all differ.
func places(users ...string) (all []place) {
	arguments := []map[string]any{{}, {"to": "prod"}, {"to": "test"}, {"to": "prod", "n": 1.5}, {"n": []any{1.0, "1", nil, false}}}
	for _, user := range users {
		for _, tool := range []string{"work", "other"} {
			for _, a := range arguments {
				all = append(all, place{user, tool, a})
			}
		}
	}
	return all
}

// addOther adds a second tool like "work".
func addOther(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "other"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if req.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "half done"}, nil, nil
		}
		return &mcp.CallToolResult{Content: said("other " + req.Params.RequestState)}, nil, nil
	})
}

// TestCrossPresentations presents the token of every context in every other
// context, and mutated tokens in their own, over each transport. A token must
// be accepted only in its own context, and every refusal must have the same
// answer.
func TestCrossPresentations(t *testing.T) {
	users := []string{"alice", "bob"}
	overHandler := func(t *testing.T, h http.Handler, connectTo func(url, user string) mcp.Transport, version string) map[string]*mcp.ClientSession {
		s := httptest.NewServer(authenticated(h))
		t.Cleanup(s.Close)
		sessions := map[string]*mcp.ClientSession{}
		for _, user := range users {
			sessions[user] = connect(t, connectTo(s.URL, user), manual(), version)
		}
		return sessions
	}
	server := func() *mcp.Server {
		server, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
		addOther(server)
		return server
	}
	for name, open := range map[string]func(*testing.T) map[string]*mcp.ClientSession{
		"streamable stateless": func(t *testing.T) map[string]*mcp.ClientSession {
			s := server()
			return overHandler(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}), transportTo, "")
		},
		"streamable stateful": func(t *testing.T) map[string]*mcp.ClientSession {
			s := server()
			return overHandler(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil), transportTo, "2025-06-18")
		},
		"SSE": func(t *testing.T) map[string]*mcp.ClientSession {
			s := server()
			return overHandler(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil), func(url, user string) mcp.Transport {
				return &mcp.SSEClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(user)}}
			}, "2025-06-18")
		},
		"stdio": func(t *testing.T) map[string]*mcp.ClientSession {
			cmd := exec.Command(os.Args[0])
			cmd.Env, cmd.Stderr = append(os.Environ(), serverVariable+"=1"), os.Stderr
			return map[string]*mcp.ClientSession{"": connect(t, &mcp.CommandTransport{Command: cmd}, manual(), "")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			sessions := open(t)
			all := places(users...)
			if name == "stdio" {
				all = places("")
			}
			crossPresent(t, sessions, all)
		})
	}
}

func crossPresent(t *testing.T, sessions map[string]*mcp.ClientSession, all []place) {
	ctx := context.Background()
	call := func(p place, token string) (*mcp.CallToolResult, error) {
		return sessions[p.user].CallTool(ctx, &mcp.CallToolParams{Name: p.tool, Arguments: p.arguments, RequestState: token})
	}
	tokens := make([]string, len(all))
	for i, p := range all {
		res, err := call(p, "")
		require.NoError(t, err)
		require.NotEmpty(t, res.RequestState)
		require.NotContains(t, res.RequestState, "half done")
		tokens[i] = res.RequestState
	}
	_, frozen := call(all[0], "garbage") // the client adds text of its own
	require.ErrorContains(t, frozen, "Invalid or expired requestState")
	answer := frozen.Error()
	seed := uint64(*presentations)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	own, refused := 0, 0
	for range *presentations {
		from, at := rng.IntN(len(all)), rng.IntN(len(all))
		if rng.IntN(10) == 0 {
			at = from
		}
		res, err := call(all[at], tokens[from])
		if from == at {
			require.NoError(t, err)
			require.Contains(t, res.Content[0].(*mcp.TextContent).Text, "half done")
			own++
			continue
		}
		require.EqualError(t, err, answer, "a token of %v at %v", all[from], all[at])
		refused++
	}
	for range *presentations {
		i := rng.IntN(len(all))
		mutated := mutate(rng, tokens[i])
		_, err := call(all[i], mutated)
		require.EqualError(t, err, answer, "%q, mutated from %q", mutated, tokens[i])
	}
	require.NotZero(t, own)
	require.NotZero(t, refused)
	t.Logf("%d in their own context accepted, %d in others and %d mutated refused", own, refused, *presentations)
}

// mutate returns a text that differs from token and is not empty.
func mutate(rng *rand.Rand, token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\x00é"
	for {
		b := []byte(token)
		at := rng.IntN(len(b))
		c := alphabet[rng.IntN(len(alphabet)-2)]
		switch rng.IntN(7) {
		case 0:
			b[at] = c
		case 1:
			b = append(b[:at], b[at+1:]...)
		case 2:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		case 3:
			b = b[:at]
		case 4:
			b = append(b, c)
		case 5:
			b = append(b[at:], b[:at]...)
		case 6:
			b = append(b, b...)
		}
		if len(b) > 0 && string(b) != token {
			return string(b)
		}
	}
}
