package rawmcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// A Request is written to the connection as it is. The caller supplies all headers except
// Content-Length, which is written last.
type Request struct {
	Verb    string
	Path    string
	Headers []Header
	Body    []byte
	// Length is the claimed Content-Length. It is nil for the length of Body, and negative for no
	// such header.
	Length *int
	// Done reports whether a message is the answer, which ends a stream of events. If it is nil,
	// the stream is read to its end.
	Done func(message []byte) bool
	// Head ends the exchange after the header of the response.
	Head bool
	// Opened is called after the header of a stream of events is read.
	Opened func()
	// Leave closes the connection after the request is written and Hold has passed.
	Leave bool
	Hold  time.Duration
}

// HTTP is a client of one address. It opens a connection for each exchange.
type HTTP struct {
	address, host, path string
	secure              bool
	name                string // in the server's certificate
	Limits              Limits
}

// NewHTTP returns a client of an http or https URL.
func NewHTTP(target string, limits Limits) (*HTTP, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", target, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, fmt.Errorf("target %q: want an http or https URL with a host and without a user", target)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return &HTTP{
		address: net.JoinHostPort(u.Hostname(), port), host: u.Host, path: u.RequestURI(),
		secure: u.Scheme == "https", name: u.Hostname(), Limits: limits.orDefault(),
	}, nil
}

// Host returns the host and port of the URL, for the Host header.
func (c *HTTP) Host() string { return c.host }

// Path returns the path and query of the URL.
func (c *HTTP) Path() string { return c.path }

// Hostname returns the host of the URL without its port.
func (c *HTTP) Hostname() string { return c.name }

// Do sends a request over a new connection. The exchange holds any error.
func (c *HTTP) Do(ctx context.Context, r Request) *Exchange {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.Limits.Time)
	defer cancel()
	e := &Exchange{Sent: r.Text()}
	defer func() { e.Took = time.Since(began) }()
	conn, err := c.Dial(ctx)
	if err != nil {
		e.Err = fmt.Errorf("dialing %s: %w", c.address, err)
		return e
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	written := c.exchange(ctx, conn, r, e)
	conn.Close() // a server may answer without reading the whole request
	<-written
	return e
}

// DoOver sends a request over an open connection. It leaves the connection open if the response is
// complete.
func (c *HTTP) DoOver(ctx context.Context, conn net.Conn, r Request) *Exchange {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.Limits.Time)
	defer cancel()
	e := &Exchange{Sent: r.Text()}
	defer func() { e.Took = time.Since(began) }()
	// A server that answers early may never read the rest of the request.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	written := c.exchange(ctx, conn, r, e)
	if e.Err != nil || e.Stream {
		conn.Close()
	}
	<-written
	return e
}

// exchange writes a request and reads the response into e. It returns a channel that is closed once
// the request is written.
func (c *HTTP) exchange(ctx context.Context, conn net.Conn, r Request, e *Exchange) <-chan struct{} {
	written := make(chan struct{})
	var failed error
	go func() {
		defer close(written)
		_, failed = conn.Write(e.Sent)
		e.Whole = failed == nil
	}()
	if r.Leave {
		<-written
		hold(ctx, r.Hold)
		e.Err = failed
		return written
	}
	e.Err = c.read(conn, r, e)
	e.Closed = errors.Is(e.Err, io.EOF) || errors.Is(e.Err, io.ErrUnexpectedEOF)
	if cause := ctx.Err(); cause != nil && e.Err != nil {
		e.Err = fmt.Errorf("waiting for the response: %w", cause)
	}
	return written
}

// hold waits until a duration has passed or the context ends.
func hold(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Dial opens a connection for [HTTP.DoOver].
func (c *HTTP) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.address)
	if err != nil || !c.secure {
		return conn, err
	}
	secured := tls.Client(conn, &tls.Config{ServerName: c.name})
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

// Text returns the request as it is sent.
func (r Request) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.Verb, r.Path)
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	length := len(r.Body)
	if r.Length != nil {
		length = *r.Length
	}
	if length >= 0 && (r.Length != nil || r.Verb != http.MethodGet && r.Verb != http.MethodHead) {
		b.WriteString("Content-Length: " + strconv.Itoa(length) + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(r.Body)
	return b.Bytes()
}

// read reads the response into e. It does not close the body, because Close reads a stream to its
// end. The caller closes the connection.
func (c *HTTP) read(conn io.Reader, r Request, e *Exchange) error {
	kept := &recorder{limit: c.Limits.Bytes}
	defer func() { e.Received = kept.Bytes() }()
	limited := &io.LimitedReader{R: conn, N: c.Limits.Bytes}
	in := bufio.NewReader(io.TeeReader(limited, kept))
	response, err := http.ReadResponse(in, &http.Request{Method: r.Verb})
	if err != nil {
		return tooLarge(limited, fmt.Errorf("reading the response: %w", err))
	}
	e.Status, e.Headers = response.StatusCode, response.Header
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if r.Head {
		e.Stream = media == "text/event-stream"
		return nil
	}
	if media == "text/event-stream" && r.Verb != http.MethodHead {
		if r.Opened != nil {
			r.Opened()
		}
		return tooLarge(limited, c.readStream(response.Body, r, e))
	}
	e.Body, err = io.ReadAll(response.Body)
	if len(e.Body) > 0 {
		e.Messages = [][]byte{Mended(e.Body)}
		e.Mended = !bytes.Equal(e.Messages[0], e.Body)
	}
	return tooLarge(limited, err)
}

// tooLarge replaces err by errTooLarge if the limit ended the response.
func tooLarge(limited *io.LimitedReader, err error) error {
	if limited.N <= 0 {
		return errTooLarge
	}
	return err
}

// maxCut is the length up to which readStream joins a message from several events, in bytes.
const maxCut = 1 << 20

func (c *HTTP) readStream(body io.Reader, r Request, e *Exchange) error {
	e.Stream = true
	var begun []byte // the start of a message that is not complete
	err := readEvents(bufio.NewReader(body), c.Limits.Events, func(name string, data []byte) bool {
		if begun != nil && !json.Valid(data) && len(begun) < maxCut {
			data = slices.Concat(begun, data)
			e.Messages, e.Names, e.Cut = e.Messages[:len(e.Messages)-1], e.Names[:len(e.Names)-1], e.Cut || json.Valid(data)
		}
		if begun = nil; data[0] == '{' && !json.Valid(data) {
			begun = data
		}
		e.Messages, e.Names = append(e.Messages, data), append(e.Names, name)
		return r.Done != nil && r.Done(data)
	})
	e.Body = bytes.Join(e.Messages, []byte("\n"))
	if errors.Is(err, io.EOF) && (r.Done == nil || len(e.Messages) > 0) || errors.Is(err, errWithin) && r.Done == nil {
		return nil // the stream ended by itself
	}
	return err
}

// errEvents and errTooLarge end a response that exceeds its limits. errWithin ends a stream that
// stops within an event; clients ignore such an event.
var (
	errEvents   = errors.New("the stream has more events than the limit")
	errTooLarge = errors.New("the response is larger than the limit")
	errWithin   = errors.New("the stream ended within an event")
)

// readEvents reads server-sent events and calls each with the name and data of every event that has
// data, until it returns true. It skips comments, IDs, retry times and events without data. Lines
// end with LF, CRLF or CR.
func readEvents(r *bufio.Reader, most int, each func(name string, data []byte) bool) error {
	var data []byte
	var name string
	has := false
	for n := 0; ; {
		line, err := readEventLine(r)
		switch {
		case errors.Is(err, io.EOF) && has:
			return errWithin
		case err != nil:
			return err
		}
		if len(line) > 0 {
			switch field, value := eventField(line); field {
			case "event":
				name = string(value)
			case "data":
				if has {
					data = append(data, '\n')
				}
				data, has = append(data, value...), true
			}
			continue
		}
		if n++; n > most {
			return errEvents
		}
		if len(data) > 0 && each(name, data) {
			return nil
		}
		name, data, has = "", nil, false
	}
}

// eventField returns the name and the value of the field in a line.
func eventField(line []byte) (string, []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	return string(name), bytes.TrimPrefix(value, []byte(" "))
}

// readEventLine returns the next line without its line ending.
func readEventLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return nil, err
		case c == '\n':
			return line, nil
		case c == '\r':
			next, err := r.Peek(1)
			if err == nil && next[0] == '\n' {
				_, err = r.Discard(1)
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return line, err
		}
		line = append(line, c)
	}
}
