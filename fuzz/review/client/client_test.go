package client

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/internal/rawmcp"
)

// TestHurried checks that a missing answer shortens the time limit, and that the next answer
// restores it.
func TestHurried(t *testing.T) {
	var answers atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices a closed connection only after the body
		if !answers.Load() {
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	whole := time.Second
	c, err := New(Options{Target: Target{URL: s.URL + "/mcp"}, Limits: rawmcp.Limits{Time: whole}, Budget: 10, Clock: SystemClock()})
	require.NoError(t, err)
	ask := func() Answer { return c.Call(context.Background(), ListTools) }
	require.Equal(t, Broken, ask().Kind)
	require.Equal(t, whole/hurryDivisor, c.HTTP.Limits.Time)
	require.Equal(t, Broken, ask().Kind)
	require.Equal(t, whole/hurryDivisor, c.HTTP.Limits.Time)
	answers.Store(true)
	c.Unhurried()
	require.Equal(t, http.StatusOK, ask().Status)
	require.Equal(t, whole, c.HTTP.Limits.Time)
}
