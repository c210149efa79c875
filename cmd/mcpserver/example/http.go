package example

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/internal/loopback"
)

// Path is the path that Handler serves.
const Path = "/mcp"

const (
	maxBody       = 1 << 20 // bytes of a request
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// BodyTimeout is the time in which a client must send its whole request. Responses may take longer:
// some are endless streams.
const BodyTimeout = 30 * time.Second

// Handler serves the server over streamable HTTP at Path, without sessions, as revision 2026-07-28
// requires. Requests must name this machine or one of hosts.
func Handler(server *mcp.Server, hosts []string, log *slog.Logger) http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		Logger:                       log,
		MaxRequestBodyBytes:          maxBody,
		PropagateRequestCancellation: true,
		// Guard checks the Host header and knows the additional hosts.
		DisableLocalhostProtection: true,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, repaired(streamable))
	return loopback.Guard(mux, hosts...)
}

// Serve answers HTTP requests on the listener until ctx ends. Requests in flight then have the
// grace period to end. Serve closes the listener. It cuts off a request whose body has not arrived
// after bodyTimeout.
func Serve(ctx context.Context, l net.Listener, h http.Handler, bodyTimeout, grace time.Duration) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv := &http.Server{
		Handler:           limitBody(h, bodyTimeout),
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
		cancel() // streams that do not end by themselves
		srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// limitBody limits the time in which a request may send its body. A ReadTimeout of the server would
// also end response streams that last longer.
func limitBody(next http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := http.NewResponseController(w)
		if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
			return
		}
		r.Body = &limitedBody{r.Body, conn}
		next.ServeHTTP(w, r)
	})
}

// limitedBody removes the deadline of the connection at the end of the body.
type limitedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		if failed := b.conn.SetReadDeadline(time.Time{}); failed != nil {
			return n, failed
		}
	}
	return n, err
}
