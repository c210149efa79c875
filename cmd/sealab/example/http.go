package example

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where Handler answers.
const Path = "/mcp"

const (
	maxBody       = 1 << 20 // bytes of a request
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// loopback are the hosts that a server on this machine is known by.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// Handler serves the server over streamable HTTP at Path, without sessions,
// which revision 2026-07-28 asks for. Requests to a Host, or from a page of an
// Origin, that is neither of this machine nor among hosts are forbidden: that
// keeps pages of other sites out, whatever name they gave to this address.
func Handler(server *mcp.Server, hosts []string, log *slog.Logger) http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		Logger:                       log,
		MaxRequestBodyBytes:          maxBody,
		PropagateRequestCancellation: true,
		// The check of the Host below covers it, and knows the hosts that were
		// added.
		DisableLocalhostProtection: true,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, streamable)
	return guarded(mux, append(slices.Clone(loopback), hosts...))
}

// guarded forbids requests whose Host or Origin is none of hosts.
func guarded(next http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(hosts, hostname(r.Host)) {
			http.Error(w, "Forbidden: this server is not known by that Host", http.StatusForbidden)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if !slices.Contains(hosts, originHost(origin)) {
				http.Error(w, "Forbidden: this server does not answer pages of that Origin", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hostname returns a host in lower case, without its port and brackets.
func hostname(host string) string {
	u := url.URL{Host: strings.ToLower(host)}
	return u.Hostname()
}

// originHost returns the host of an Origin, "" where it has none, as "null" has.
func originHost(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return hostname(u.Host)
}

// Serve answers HTTP requests on the listener until ctx ends, and then gives
// those under way the grace period to end. It closes the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	patience, done := context.WithTimeout(requests, grace)
	defer done()
	if err := srv.Shutdown(patience); err != nil {
		cancel() // streams that never end by themselves
		srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
