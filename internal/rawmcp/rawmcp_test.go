package rawmcp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/internal/rawmcp"
)

// serverVariable is an environment variable that makes the test binary a server on standard streams
// with the named behavior.
const serverVariable = "RAWMCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if behavior := os.Getenv(serverVariable); behavior != "" {
		serve(behavior)
		return
	}
	os.Exit(m.Run())
}

// serve answers lines on standard input.
func serve(behavior string) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch behavior {
		case "echo":
			fmt.Print("{\"note\":1}\n", line)
		case "braces":
			fmt.Print("{\n  \"id\": 1,\n  \"a\": []\n}\n{\n}}\n{\n", line)
		case "long":
			fmt.Println(strings.Repeat("x", 10<<20))
		case "endless":
			for {
				if _, err := fmt.Println("{}"); err != nil {
					return
				}
			}
		case "die":
			fmt.Fprintln(os.Stderr, "fatal: bad line")
			os.Exit(3)
		case "silent":
		}
	}
}

// answering serves one raw response on every connection after it has read the header of the
// request.
func answering(t *testing.T, write func(w io.Writer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					write(conn)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/mcp"
}

func do(t *testing.T, url string, limits rawmcp.Limits, r rawmcp.Request) *rawmcp.Exchange {
	t.Helper()
	c, err := rawmcp.NewHTTP(url, limits)
	require.NoError(t, err)
	if r.Verb == "" {
		r.Verb, r.Path = "POST", c.Path()
		r.Headers = append([]rawmcp.Header{{Name: "Host", Value: c.Host()}}, r.Headers...)
	}
	return c.Do(context.Background(), r)
}

func text(s string) func(io.Writer) { return func(w io.Writer) { io.WriteString(w, s) } }

// forever writes a text until the client closes the connection.
func forever(head, s string) func(io.Writer) {
	return func(w io.Writer) {
		_, err := io.WriteString(w, head)
		for err == nil {
			_, err = io.WriteString(w, s)
		}
	}
}

const (
	ok     = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
)

// TestHostile reads invalid responses. Every exchange must end and keep all received bytes.
func TestHostile(t *testing.T) {
	small := rawmcp.Limits{Time: 20 * time.Second, Bytes: 1 << 16, Events: 50}
	brief := rawmcp.Limits{Time: 50 * time.Millisecond}
	for name, c := range map[string]struct {
		serve  func(io.Writer)
		limits rawmcp.Limits
		status int
		err    string // "": no error
	}{
		"a plain response":        {text(ok + "Content-Length: 2\r\n\r\n{}"), small, 200, ""},
		"length too long":         {text(ok + "Content-Length: 100\r\n\r\n{}"), small, 200, "EOF"},
		"length too short":        {text(ok + "Content-Length: 1\r\n\r\n{}"), small, 200, ""},
		"two lengths":             {text(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}"), small, 0, "Content-Length"},
		"negative length":         {text(ok + "Content-Length: -1\r\n\r\n{}"), small, 0, "bad Content-Length"},
		"bad chunk":               {text(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}"), small, 200, "chunk"},
		"half a header":           {text("HTTP/1.1 200 OK\r\nContent-"), small, 0, "malformed"},
		"no HTTP":                 {text("hello\r\n\r\n"), small, 0, "malformed"},
		"no byte":                 {text(""), small, 0, "EOF"},
		"a redirect":              {text("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"), small, 302, ""},
		"endless body":            {forever(ok+"\r\n", "xxxxxxxxxxxxxxxx"), small, 200, "limit"},
		"endless header":          {forever("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("b", 1000)+"\r\n"), small, 0, "limit"},
		"endless line of header":  {forever("HTTP/1.1 200 OK\r\nX-A: ", "bbbbbbbbbbbb"), small, 0, "limit"},
		"endless events":          {forever(stream, "data: {}\n\n"), small, 200, "events"},
		"endless line of event":   {forever(stream+"data: ", "xxxxxxxxxxxx"), small, 200, "limit"},
		"endless comments":        {forever(stream, ": keep alive\n\n"), small, 200, "events"},
		"an event without an end": {text(stream + "data: {}\n"), small, 200, "within an event"},
		"a 10 MB line":            {text(stream + "data: " + strings.Repeat("x", 10<<20) + "\n\n"), small, 200, "limit"},
		"a silent server":         {func(w io.Writer) { io.Copy(io.Discard, w.(net.Conn)) }, brief, 0, "deadline"},
		"a drip":                  {drip, brief, 0, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := do(t, answering(t, c.serve), c.limits, rawmcp.Request{Body: []byte("{}"), Done: func([]byte) bool { return false }})
			require.Equal(t, c.status, e.Status)
			require.LessOrEqual(t, len(e.Received), 8<<20)
			if c.err == "" {
				require.NoError(t, e.Err)
				return
			}
			require.ErrorContains(t, e.Err, c.err)
		})
	}
}

// drip sends one byte of a header and then waits until the client closes the connection.
func drip(w io.Writer) {
	io.WriteString(w, "H")
	io.Copy(io.Discard, w.(net.Conn))
}

// TestStream reads the events of a stream up to the answer.
func TestStream(t *testing.T) {
	url := answering(t, text(stream+": hello\r\ndata: \nid: 0/8\nretry: 3000\n\ndata: {\"id\":1,\rdata: \"a\":2}\r\revent: message\ndata:{\"id\":2}\n\ndata: never\n\n"))
	e := do(t, url, rawmcp.Limits{}, rawmcp.Request{Done: func(m []byte) bool { return bytes.Contains(m, []byte(`"id":2`)) }})
	require.NoError(t, e.Err)
	require.True(t, e.Stream)
	require.Equal(t, []string{"{\"id\":1,\n\"a\":2}", `{"id":2}`}, strs(e.Messages))
	require.Equal(t, []string{"", "message"}, e.Names)
}

// TestCutEvents checks that a message split between events is read as one, and that other events
// are kept as they are.
func TestCutEvents(t *testing.T) {
	url := answering(t, text(stream+"data: {\"id\":1,\n\ndata: \"a\":\n\ndata: 2}\n\ndata: none\n\ndata: {\"b\n\ndata: {\"id\":2}\n\n"))
	e := do(t, url, rawmcp.Limits{}, rawmcp.Request{Done: func(m []byte) bool { return string(m) == `{"id":2}` }})
	require.NoError(t, e.Err)
	require.True(t, e.Cut)
	require.Equal(t, []string{`{"id":1,"a":2}`, "none", `{"b`, `{"id":2}`}, strs(e.Messages))
}

func strs(all [][]byte) (out []string) {
	for _, m := range all {
		out = append(out, string(m))
	}
	return out
}

// TestLiteral sends duplicate headers, a wrong length and half a body unchanged.
func TestLiteral(t *testing.T) {
	seen := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buffer := make([]byte, 4096)
		n, _ := conn.Read(buffer)
		seen <- string(buffer[:n])
		io.WriteString(conn, ok+"Content-Length: 0\r\n\r\n")
	}()
	length := 99
	want := "PATCH /x HTTP/1.1\r\nA: 1\r\nA: 2\r\nHost: evil\r\nContent-Length: 99\r\n\r\n{"
	e := do(t, "http://"+l.Addr().String(), rawmcp.Limits{}, rawmcp.Request{Verb: "PATCH", Path: "/x", Length: &length, Body: []byte("{"),
		Headers: []rawmcp.Header{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}, {Name: "Host", Value: "evil"}}})
	require.NoError(t, e.Err)
	require.Equal(t, want, <-seen)
	require.Equal(t, want, string(e.Sent))
}

// TestEarlyResponse checks that a server that answers without reading the body ends an exchange over an
// open connection at the time limit.
func TestEarlyResponse(t *testing.T) {
	url := answering(t, func(w io.Writer) {
		io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		select {} // neither read nor close
	})
	c, err := rawmcp.NewHTTP(url, rawmcp.Limits{Time: time.Second})
	require.NoError(t, err)
	conn, err := c.Dial(t.Context())
	require.NoError(t, err)
	e := c.DoOver(t.Context(), conn, rawmcp.Request{Verb: "POST", Path: "/", Body: make([]byte, 64<<20)})
	require.NoError(t, e.Err)
	require.Equal(t, "{}", string(e.Body))
	require.False(t, e.Whole)
}

func TestTargets(t *testing.T) {
	for _, bad := range []string{"", "ftp://x/", "http://", "http://user:word@x/", "://"} {
		_, err := rawmcp.NewHTTP(bad, rawmcp.Limits{})
		require.Error(t, err, bad)
	}
	c, err := rawmcp.NewHTTP("http://127.0.0.1:1/mcp?a=b", rawmcp.Limits{})
	require.NoError(t, err)
	require.Equal(t, "/mcp?a=b", c.Path())
	require.ErrorContains(t, c.Do(context.Background(), rawmcp.Request{Verb: "GET", Path: "/"}).Err, "dialing")
}

// start starts the test binary as a server.
func start(t *testing.T, behavior string, limits rawmcp.Limits) *rawmcp.Process {
	t.Helper()
	t.Setenv(serverVariable, behavior)
	p, err := rawmcp.Start([]string{os.Args[0]}, limits)
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(5 * time.Second) })
	return p
}

func has(part string) func([]byte) bool {
	return func(line []byte) bool { return bytes.Contains(line, []byte(part)) }
}

func TestProcess(t *testing.T) {
	p := start(t, "echo", rawmcp.Limits{})
	for _, line := range []string{`{"id":1}`, `{"id":2}`} {
		e := p.Do(context.Background(), []byte(line), has(line))
		require.NoError(t, e.Err)
		require.Equal(t, []string{`{"note":1}`, line}, strs(e.Messages))
	}
	require.True(t, p.Alive())
	require.True(t, p.Stop(20*time.Second), "it ends when its input does")
	require.NoError(t, p.State())
	require.Equal(t, 4, bytes.Count(p.Output(), []byte("\n")))
}

// TestLines reads a message of several lines as one, and the answer after lines that are not
// messages.
func TestLines(t *testing.T) {
	p := start(t, "braces", rawmcp.Limits{})
	defer p.Stop(time.Second)
	e := p.Do(context.Background(), []byte(`{"id":2}`), has(`{"id":2}`))
	require.NoError(t, e.Err)
	require.Equal(t, []string{"{\n  \"id\": 1,\n  \"a\": []\n}", `{"id":2}`}, strs(e.Messages))
}

// TestHostileProcess talks to processes that write endlessly, write a line that is too long, write
// nothing, or exit.
func TestHostileProcess(t *testing.T) {
	small := rawmcp.Limits{Time: 20 * time.Second, Bytes: 1 << 16, Events: 50}
	for _, c := range []struct {
		behavior string
		limits   rawmcp.Limits
		err      string
	}{
		{"long", small, "limit"}, {"endless", small, "events"}, {"die", small, "closed its standard output"},
		{"silent", rawmcp.Limits{Time: 50 * time.Millisecond}, "deadline"},
	} {
		t.Run(c.behavior, func(t *testing.T) {
			p := start(t, c.behavior, c.limits)
			e := p.Do(context.Background(), []byte("{}"), has("never"))
			require.ErrorContains(t, e.Err, c.err)
			if c.behavior == "die" {
				require.Error(t, p.State())
				require.Contains(t, string(p.Stderr()), "fatal: bad line")
				require.False(t, p.Alive())
			}
		})
	}
	_, err := rawmcp.Start(nil, small)
	require.Error(t, err)
	_, err = rawmcp.Start([]string{"/nonexistent/server"}, small)
	require.Error(t, err)
}

// TestStartOfProcess checks that the first exchange of a process has the time of a start, and the
// next one the time of an exchange.
func TestStartOfProcess(t *testing.T) {
	p := start(t, "echo", rawmcp.Limits{Time: time.Nanosecond, Start: time.Minute})
	require.NoError(t, p.Do(t.Context(), []byte("one"), has("one")).Err)
	require.ErrorIs(t, p.Do(t.Context(), []byte("two"), has("two")).Err, context.DeadlineExceeded)
}

// TestMended replaces NaN and Infinity, and leaves strings as they are.
func TestMended(t *testing.T) {
	for message, want := range map[string]string{
		`{"a":NaN,"b":[1, -Infinity]}`: `{"a":null,"b":[1, null]}`,
		`{"a":"b:NaN"}`:                `{"a":"b:NaN"}`,
		`{"a":NaN`:                     `{"a":NaN`,
	} {
		require.Equal(t, want, string(rawmcp.Mended([]byte(message))))
	}
}
