package gosdk_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
)

// FuzzToken presents arbitrary text as a token of each method. Unless it is the
// minted token, it must be refused without calling the handler.
func FuzzToken(f *testing.F) {
	called := false
	// Signed tokens, and therefore the seeds, are the same in every process.
	codec, err := hmacsha256.New(secret(1))
	require.NoError(f, err)
	signed, err := claims.New(codec, time.Minute)
	require.NoError(f, err)
	b, err := boundary.New(service, boundary.Policy{
		Scheme: signed,
		Logger: slog.New(slog.DiscardHandler),
		Now:    func() time.Time { return noon },
	})
	require.NoError(f, err)
	handler := gosdk.Middleware(b, gosdk.TokenPrincipal)(func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		called = stateOf(req) != ""
		return askWith("a state")(ctx, method, req)
	})
	minted := make([]string, len(calls))
	for i, c := range calls {
		res, err := handler(context.Background(), c.method, c.request())
		require.NoError(f, err)
		minted[i] = tokenOf(res)
		f.Add(uint(i), minted[i])
		f.Add(uint(i), minted[i]+"=")
		f.Add(uint(i+1), minted[i])
	}
	f.Add(uint(0), hmacsha256.Design.Prefix)
	f.Add(uint(0), "\x00")
	f.Fuzz(func(t *testing.T, i uint, token string) {
		c := calls[i%uint(len(calls))]
		c.token = token
		called = false
		_, err := handler(context.Background(), c.method, c.request())
		switch token {
		case "":
			require.NoError(t, err)
		case minted[i%uint(len(calls))]:
			require.NoError(t, err)
			require.True(t, called)
		default:
			requireRefused(t, err)
			require.False(t, called)
		}
	})
}
