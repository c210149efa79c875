package inputs

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// A Canary is a listener on this machine that serves a text of its own. It knows requests by the
// number at the end of their path.
type Canary struct {
	Text       string
	port, path string
	mu         sync.Mutex
	asked      map[string]bool
	server     *http.Server
}

// NewCanary starts a listener, for IPv6 as well if the machine has it. It skips the check and
// returns nil on failure.
func NewCanary(t *review.T) *Canary {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("listening: %v", err)
		return nil
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // an address of our own
	c := &Canary{port: port, path: "/" + t.Word() + "/", Text: t.Word(), asked: map[string]bool{}}
	c.server = &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number, ok := strings.CutPrefix(r.URL.Path, c.path)
		if !ok {
			http.NotFound(w, r)
			return
		}
		c.mu.Lock()
		c.asked[number] = true
		c.mu.Unlock()
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, c.Text) // the server may have closed the connection
	})}
	go func() { _ = c.server.Serve(l) }() // until Close
	if six, err := net.Listen("tcp", net.JoinHostPort("::1", port)); err == nil {
		go func() { _ = c.server.Serve(six) }() // until Close
	}
	return c
}

// Close ends the listener.
func (c *Canary) Close() { _ = c.server.Close() }

// CanaryURL is the usual spelling of the URL of the listener.
const CanaryURL = "http://127.0.0.1:PORT/PATH"

// Spelled returns a URL with the port of the listener for PORT, and its path with a number for /PATH.
func (c *Canary) Spelled(spelling string, number int) string {
	return strings.NewReplacer("PORT", c.port, "/PATH", c.path+fmt.Sprint(number)).Replace(spelling)
}

// Opens sends a URL with a number, and reports whether the server opens it.
func (c *Canary) Opens(spelling string, number int, send func(url string) client.Answer) (client.Answer, bool) {
	a := send(c.Spelled(spelling, number))
	return a, c.wasAsked(number)
}

// wasAsked reports whether the listener received the request with a number.
func (c *Canary) wasAsked(number int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[fmt.Sprint(number)]
}
