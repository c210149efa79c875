package gosdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
	"sealab/codecs/claims"
	"sealab/codecs/mcppy"
)

var (
	alice = &auth.TokenInfo{UserID: "alice", Extra: map[string]any{"client_id": "client-1", "iss": "https://as.example"}}
	bob   = &auth.TokenInfo{UserID: "bob", Extra: map[string]any{"client_id": "client-1", "iss": "https://as.example"}}
)

func TestRoundTrip(t *testing.T) {
	for _, c := range calls {
		for name, user := range map[string]*auth.TokenInfo{"anonymous": nil, "alice": alice} {
			t.Run(c.method+"/"+name, func(t *testing.T) {
				b := newBench(t, boundary.Policy{})
				c.user = user
				c.token = b.mint(c)
				require.NotContains(t, c.token, "a state")
				_, err := b.call(c)
				require.NoError(t, err)
				require.Equal(t, []string{"", "a state"}, b.seen, "the handler sees plain state")
			})
		}
	}
}

// TestHandlersKeepTheirOwn checks that the boundary changes neither the outer
// middleware's request nor the handler's result.
func TestHandlersKeepTheirOwn(t *testing.T) {
	for _, c := range calls {
		t.Run(c.method, func(t *testing.T) {
			b := newBench(t, boundary.Policy{})
			var inner mcp.Result
			echo := b.next
			b.next = func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
				inner, err = echo(ctx, method, req)
				return inner, err
			}
			c.token = b.mint(c)
			req := c.request()
			_, err := b.handler(context.Background(), c.method, req)
			require.NoError(t, err)
			require.Equal(t, c.token, stateOf(req))
			require.Equal(t, "a state", tokenOf(inner))
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range calls {
		for _, wrong := range []struct {
			name   string
			change func(*bench, *call)
			// reason is the expected reason in the log; "" accepts any.
			reason string
		}{
			{"garbage", func(_ *bench, c *call) { c.token = "garbage" }, "malformed"},
			{"cut", func(_ *bench, c *call) { c.token = c.token[:len(c.token)-4] }, ""},
			{"longer", func(_ *bench, c *call) { c.token += "-TAMPERED" }, ""},
			{"spelling", func(_ *bench, c *call) { c.token += "\n" }, ""},
			{"another target", func(_ *bench, c *call) { c.target += "2" }, ""},
			{"somebody else", func(_ *bench, c *call) { c.user = bob }, ""},
			{"nobody", func(_ *bench, c *call) { c.user = nil }, ""},
			{"too late", func(b *bench, _ *call) { b.now = noon.Add(boundary.DefaultTTL) }, "expired"},
			{"from the future", func(b *bench, _ *call) { b.now = noon.Add(-2 * time.Minute) }, "minted in the future"},
			{"too long", func(_ *bench, c *call) { c.token = strings.Repeat("A", boundary.DefaultMaxToken+1) }, "longer than the limit"},
		} {
			t.Run(c.method+"/"+wrong.name, func(t *testing.T) {
				b := newBench(t, boundary.Policy{})
				c.user = alice
				c.token = b.mint(c)
				b.seen = nil
				wrong.change(b, &c)
				_, err := b.call(c)
				requireRefused(t, err)
				require.Empty(t, b.seen, "the handler was called")
				require.Contains(t, b.log.String(), wrong.reason)
			})
		}
	}
}

func TestArgumentsAreBound(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	for _, c := range calls[:2] {
		c.token = b.mint(c)
		c.arguments = `{"to":"test","of":"tomorrow"}`
		_, err := b.call(c)
		requireRefused(t, err)
	}
}

// TestNoArguments checks that absent, null and empty arguments count as one
// value, different from all others.
func TestNoArguments(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	none := []string{"", "null", " null ", "{}", "{ \n}"}
	for _, minted := range none {
		c := calls[0]
		c.arguments = minted
		c.token = b.mint(c)
		for _, presented := range none {
			c.arguments = presented
			_, err := b.call(c)
			require.NoError(t, err, "%q presented with %q", minted, presented)
		}
		c.arguments = `{"a":null}`
		_, err := b.call(c)
		requireRefused(t, err)
	}
}

func TestMethodsAreBound(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	token := b.mint(call{method: "tools/call", target: "deploy"})
	_, err := b.call(call{method: "prompts/get", target: "deploy", token: token})
	requireRefused(t, err)
}

func TestAudience(t *testing.T) {
	c := calls[0]
	c.token = newBench(t, boundary.Policy{}).mint(c)
	_, err := newBench(t, boundary.Policy{Audience: service}).call(c)
	require.NoError(t, err, "the audience is the server's name by default")
	_, err = newBench(t, boundary.Policy{Audience: "another"}).call(c)
	requireRefused(t, err)
}

func TestRotation(t *testing.T) {
	c := calls[0]
	c.token = newBench(t, boundary.Policy{Secrets: [][]byte{secret(1)}}).mint(c)
	_, err := newBench(t, boundary.Policy{Secrets: [][]byte{secret(2), secret(1)}}).call(c)
	require.NoError(t, err)
	_, err = newBench(t, boundary.Policy{Secrets: [][]byte{secret(2)}}).call(c)
	requireRefused(t, err)
}

func TestOtherMethodsPass(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	res, err := b.call(call{method: "tools/list"})
	require.NoError(t, err)
	require.IsType(t, &mcp.ListToolsResult{}, res)
}

func TestHandlerErrorsPass(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	failure := errors.New("the handler's own")
	b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) { return nil, failure }
	_, err := b.call(calls[0])
	require.Equal(t, failure, err)
}

func TestStatelessResultsPass(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	for _, want := range []mcp.Result{nil, (*mcp.CallToolResult)(nil), &mcp.CallToolResult{}, &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}}} {
		b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) { return want, nil }
		got, err := b.call(calls[0])
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestFailClosed makes every callback of the boundary fail, in both directions.
func TestFailClosed(t *testing.T) {
	failing := func(context.Context, mcp.Request) (*string, error) { return nil, errors.New("secret-principal") }
	panicking := func(context.Context, mcp.Request) (*string, error) { panic("secret-principal") }
	claimsOver := func(codec codecs.Codec) codecs.Scheme {
		s, err := claims.New(codec, time.Minute)
		require.NoError(t, err)
		return s
	}
	for name, c := range map[string]struct {
		scheme    codecs.Scheme
		principal gosdk.PrincipalFunc
	}{
		"principal fails":  {nil, failing},
		"principal panics": {nil, panicking},
		"codec fails":      {claimsOver(brokenCodec(func() error { return errors.New("secret-key") })), gosdk.TokenPrincipal},
		"codec panics":     {claimsOver(brokenCodec(func() error { panic("secret-key") })), gosdk.TokenPrincipal},
		"scheme panics":    {brokenScheme{}, gosdk.TokenPrincipal},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBenchOf(t, boundary.Policy{Scheme: c.scheme}, c.principal)
			_, err := b.call(calls[0])
			requireFault(t, err)
			forged := calls[0]
			forged.token = "token"
			_, err = b.call(forged)
			requireRefused(t, err)
			require.NotContains(t, b.log.String(), "secret-")
			require.Len(t, b.seen, 1, "the handler is called for the first request alone")
		})
	}
}

type brokenCodec func() error

func (c brokenCodec) Seal(dst, _ []byte) ([]byte, error)   { return dst, c() }
func (c brokenCodec) Unseal(dst, _ []byte) ([]byte, error) { return dst, c() }

type brokenScheme struct{}

func (brokenScheme) Mint([]byte, []byte, *codecs.Context) ([]byte, error) {
	panic(errors.New("secret-key"))
}

func (brokenScheme) Verify([]byte, []byte, *codecs.Context) ([]byte, error) {
	var b *codecs.Context
	_ = b.Method // panics with a nil dereference
	return nil, nil
}

func TestUnknownTypes(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	_, err := b.handler(context.Background(), "tools/call", &mcp.ListToolsRequest{})
	requireFault(t, err)
	_, err = b.handler(context.Background(), "tools/call", &mcp.CallToolRequest{})
	requireFault(t, err)
	b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) { return &mcp.ListToolsResult{}, nil }
	_, err = b.call(calls[0])
	requireFault(t, err)
}

func TestTokensThatCouldNotComeBack(t *testing.T) {
	b := newBench(t, boundary.Policy{MaxToken: 1000})
	b.next = askWith(strings.Repeat("s", 1000))
	_, err := b.call(calls[0])
	requireFault(t, err)
	require.Contains(t, b.log.String(), "raise MaxToken")
}

// TestStatesOfAnyBytes checks that claims carry any state. If a text format
// cannot carry a state, that is a fault of the server.
func TestStatesOfAnyBytes(t *testing.T) {
	const state = "\x00\xff"
	b := newBench(t, boundary.Policy{})
	b.next = askWith(state)
	c := calls[0]
	c.token = b.mint(c)
	_, err := b.call(c)
	require.NoError(t, err)
	require.Equal(t, []string{"", state}, b.seen)

	b = newBench(t, boundary.Policy{Design: &mcppy.Design, Secrets: [][]byte{secret(1)}})
	b.next = askWith(state)
	_, err = b.call(calls[0])
	requireFault(t, err)
}

// TestConcurrentRounds runs rounds with different states concurrently.
func TestConcurrentRounds(t *testing.T) {
	store, err := boundary.NewMemory(1000, 1000)
	require.NoError(t, err)
	b, err := boundary.New(service, boundary.Policy{Secrets: [][]byte{secret(1)}, Store: store})
	require.NoError(t, err)
	handler := gosdk.Middleware(b, gosdk.TokenPrincipal)(func(_ context.Context, _ string, req mcp.Request) (mcp.Result, error) {
		p := req.GetParams().(*mcp.CallToolParamsRaw)
		if p.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "state of " + p.Name}, nil
		}
		return &mcp.CallToolResult{Content: said(p.RequestState)}, nil
	})
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			c := call{method: "tools/call", target: fmt.Sprint("tool ", i)}
			asked, err := handler(context.Background(), c.method, c.request())
			assert.NoError(t, err)
			c.token = tokenOf(asked)
			done, err := handler(context.Background(), c.method, c.request())
			assert.NoError(t, err)
			assert.Equal(t, said("state of "+c.target), done.(*mcp.CallToolResult).Content)
		})
	}
	all.Wait()
	require.Equal(t, 100, store.Len())
}
