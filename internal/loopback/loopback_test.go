package loopback_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/loopback"
)

func TestCheck(t *testing.T) {
	for _, address := range []string{"127.0.0.1:7070", "[::1]:7070", "localhost:0"} {
		require.NoError(t, loopback.Check(address), address)
	}
	for _, address := range []string{":7070", "0.0.0.0:7070", "192.0.2.1:7070", "example.com:7070"} {
		require.ErrorContains(t, loopback.Check(address), "not authenticated", address)
	}
	require.ErrorContains(t, loopback.Check("127.0.0.1"), "want an address")
}

func TestGuard(t *testing.T) {
	guarded := loopback.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}), "mcp.example.com")
	for _, c := range []struct {
		name, host, origin string
		want               int
	}{
		{"as it is", "", "", 200},
		{"localhost", "localhost:1234", "http://localhost:5173", 200},
		{"in capitals", "LOCALHOST", "http://LocalHost", 200},
		{"loopback v6", "[::1]:1234", "http://[::1]", 200},
		{"a host that was added", "mcp.example.com", "https://mcp.example.com", 200},
		{"rebound name", "evil.example", "", 403},
		{"rebound name with the page's origin", "evil.example", "http://evil.example", 403},
		{"page of another site", "localhost", "http://evil.example", 403},
		{"page of a name that begins alike", "localhost", "http://localhost.evil.example", 403},
		{"user information", "localhost", "http://localhost@evil.example", 403},
		{"sandboxed page", "localhost", "null", 403},
		{"file", "localhost", "file://localhost", 403},
		{"no host in it", "localhost", "http://", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1234/", nil)
			if c.host != "" {
				r.Host = c.host
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			require.Equal(t, c.want, w.Code, w.Body.String())
		})
	}
}
