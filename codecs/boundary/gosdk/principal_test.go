package gosdk_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
)

// TestTokenPrincipal compares TokenPrincipal with the output of the Python SDK
// for the same client, issuer and subject: json.dumps([...], separators=(",",
// ":")).
func TestTokenPrincipal(t *testing.T) {
	for _, c := range []struct {
		name string
		info *auth.TokenInfo
		want string // "" if unauthenticated
	}{
		{"nobody", nil, ""},
		{"all three", alice, `["client-1","https://as.example","alice"]`},
		{"subject alone", &auth.TokenInfo{UserID: "alice"}, `[null,null,"alice"]`},
		{"client alone", &auth.TokenInfo{Extra: map[string]any{"client_id": "c"}}, `["c",null,null]`},
		{"subject among the claims", &auth.TokenInfo{Extra: map[string]any{"sub": "alice"}}, `[null,null,"alice"]`},
		{"empty subject", &auth.TokenInfo{Extra: map[string]any{"sub": ""}}, `[null,null,null]`},
		{"nothing known", &auth.TokenInfo{}, `[null,null,null]`},
		{"escapes", &auth.TokenInfo{UserID: "é<\"\x7f\U0001f600"}, `[null,null,"\u00e9<\"\u007f\ud83d\ude00"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := gosdk.TokenPrincipal(context.Background(), call{method: "tools/call", user: c.info}.request())
			require.NoError(t, err)
			if c.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, c.want, *got)
		})
	}
}

func TestTokenPrincipalErrors(t *testing.T) {
	for name, info := range map[string]*auth.TokenInfo{
		"client is a number":  {Extra: map[string]any{"client_id": 7}},
		"issuer is a list":    {Extra: map[string]any{"iss": []string{"a"}}},
		"subject is a number": {Extra: map[string]any{"sub": 7}},
		"subject not UTF-8":   {UserID: "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, boundary.Policy{})
			c := calls[0]
			c.user = info
			_, err := b.call(c)
			requireFault(t, err)
		})
	}
}

// TestPrincipalsAreBound presents each principal's token as every other
// principal.
func TestPrincipalsAreBound(t *testing.T) {
	users := []*auth.TokenInfo{nil, {}, alice, bob, {UserID: "alice"}, {UserID: "alice", Extra: map[string]any{"client_id": "client-2", "iss": "https://as.example"}}}
	for i, minter := range users {
		for j, presenter := range users {
			b := newBench(t, boundary.Policy{})
			c := calls[0]
			c.user = minter
			c.token = b.mint(c)
			c.user = presenter
			_, err := b.call(c)
			if i == j {
				require.NoError(t, err, "user %d", i)
			} else {
				requireRefused(t, err)
			}
		}
	}
}

// TestSSECarriesThePrincipal presents alice's token in a session of bob over
// SSE, for which the SDK gives requests no token.
func TestSSECarriesThePrincipal(t *testing.T) {
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}, RequirePrincipal: true})
	h := mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := httptest.NewServer(authenticated(h))
	t.Cleanup(s.Close)
	sse := func(user string) *mcp.ClientSession {
		transport := &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer(user)}}
		return connect(t, transport, manual(), "")
	}
	round := &mcp.CallToolParams{Name: "work"}
	asked, err := sse("alice").CallTool(context.Background(), round)
	require.NoError(t, err)
	require.NotEmpty(t, asked.RequestState)
	round.RequestState = asked.RequestState
	seen.take()
	_, err = sse("bob").CallTool(context.Background(), round)
	require.ErrorContains(t, err, "Invalid or expired requestState")
	require.Empty(t, seen.take())
	_, err = sse("alice").CallTool(context.Background(), round)
	require.NoError(t, err)
	require.Equal(t, []string{"half done"}, seen.take())
}

// TestRequirePrincipal checks that unauthenticated requests are refused in both
// directions. Each kind must be logged once.
func TestRequirePrincipal(t *testing.T) {
	for name, c := range map[string]struct {
		user *auth.TokenInfo
		warn string
	}{
		"no token":    {nil, "without a principal"},
		"empty token": {&auth.TokenInfo{}, "name no client, issuer or subject"},
		"empty names": {&auth.TokenInfo{Extra: map[string]any{"client_id": "", "iss": ""}}, "name no client, issuer or subject"},
	} {
		t.Run(name, func(t *testing.T) {
			one := calls[0]
			one.user = c.user
			lax := newBench(t, boundary.Policy{})
			one.token = lax.mint(one)
			require.Contains(t, lax.log.String(), c.warn)
			strict := newBench(t, boundary.Policy{RequirePrincipal: true})
			for range 3 {
				_, err := strict.call(one)
				requireRefused(t, err)
			}
			require.Empty(t, strict.seen)
			require.Equal(t, 1, strings.Count(strict.log.String(), c.warn))
			one.token = ""
			_, err := strict.call(one)
			requireFault(t, err)
			one.user, one.token = alice, ""
			_, err = strict.call(one)
			require.NoError(t, err)
		})
	}
}
