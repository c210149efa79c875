package boundary_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

// TestTokenPrincipal compares with what the Python SDK makes of the same
// client, issuer and subject: json.dumps([...], separators=(",", ":")).
func TestTokenPrincipal(t *testing.T) {
	for _, c := range []struct {
		name string
		info *auth.TokenInfo
		want string // "": unauthenticated
	}{
		{"nobody", nil, ""},
		{"all three", alice, `["client-1","https://as.example","alice"]`},
		{"subject alone", &auth.TokenInfo{UserID: "alice"}, `[null,null,"alice"]`},
		{"client alone", &auth.TokenInfo{Extra: map[string]any{"client_id": "c"}}, `["c",null,null]`},
		{"nothing known", &auth.TokenInfo{}, `[null,null,null]`},
		{"escapes", &auth.TokenInfo{UserID: "é<\"\x7f\U0001f600"}, `[null,null,"\u00e9<\"\u007f\ud83d\ude00"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := boundary.TokenPrincipal(context.Background(), call{method: "tools/call", user: c.info}.request())
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
		"client is a number": {Extra: map[string]any{"client_id": 7}},
		"issuer is a list":   {Extra: map[string]any{"iss": []string{"a"}}},
		"subject not UTF-8":  {UserID: "\xff"},
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

// TestPrincipalsAreBound presents every principal's token as every other.
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
