package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// errEnded is the end of a server that a bad line ended.
var errEnded = errors.New("the server ended")

// ServeLines serves standard streams: one message a line. It returns at the end of
// in, when every call has been answered.
func (s *Server) ServeLines(in io.Reader, out, errs io.Writer) error {
	var mu sync.Mutex
	var calls sync.WaitGroup
	defer calls.Wait()
	write := func(line []byte) {
		if s.has("messages over several lines") {
			var b bytes.Buffer
			_ = json.Indent(&b, line, "", "  ") // our own
			line = b.Bytes()
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(out, "%s\n", line) // the client may be gone
	}
	if s.has("noise on standard output") {
		write([]byte("listening"))
	}
	if s.has("requests to the client") {
		write(question("server-1", "confirm"))
	}
	initialized := s.has("no handshake wanted")
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		if s.has("NUL in a text ends the server") && strings.Contains(line, `\u0000`) || s.has("long lines end the server") && len(line) > 64<<10 {
			return errEnded
		}
		if batch := firstOf([]byte(line)); s.has("batches served") && len(batch) < len(line) {
			line = string(batch)
		}
		if s.has("tokens on standard error") {
			fmt.Fprintln(errs, line)
		}
		req, notification, fail := s.parse([]byte(line))
		switch {
		case s.has("bad lines end the server") && fail != nil:
			return errEnded
		case fail != nil && s.has("bad lines logged"):
			write([]byte("WARN a line cannot be read"))
			continue
		case fail != nil:
			write(response(req.id, nil, fail))
			continue
		case notification && req.method == "notifications/cancelled" && req.params["requestId"] == nil && s.has("cancellations of nothing end the server"):
			return errEnded
		case notification && req.method == "notifications/roots/list_changed" && s.has("changes of roots logged"):
			write([]byte("the roots have changed"))
		case notification:
			if s.notified(req); s.refusesAloud(req) {
				write(response(nil, nil, invalid("unknown tool")))
			}
			continue
		}
		req.context = context.Background()
		result, fail, ok := s.handshake(&req, &initialized)
		if ok {
			write(response(req.id, result, fail))
			continue
		}
		if answer := s.answering(req, write, errs); s.has("one call at a time") {
			answer()
		} else {
			calls.Go(answer)
		}
	}
}

// answering makes a call one that can be cancelled. It returns the function that writes
// its response and the messages beside it.
func (s *Server) answering(req request, write func(line []byte), errs io.Writer) func() {
	ctx, end := s.cancellable(context.Background(), req)
	return func() {
		defer end()
		if !s.slow(ctx, req) {
			return // cancelled: no response
		}
		result, fail := s.handle(req)
		if fail != nil && s.has("refused tokens on standard error") {
			fmt.Fprintf(errs, "refused: %s\n", req.params["requestState"])
		}
		before, after := s.progress(req)
		for _, message := range slices.Concat(s.notices(), before, [][]byte{response(s.echoed(req.id), result, fail)}, after) {
			write(message)
		}
	}
}

// handshake finds the era of a request; it reports whether that is the answer.
func (s *Server) handshake(req *request, initialized *bool) (object, *failure, bool) {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(req.params["_meta"], &meta)
	var version string
	switch {
	case json.Unmarshal(meta["io.modelcontextprotocol/protocolVersion"], &version) == nil:
		if req.modern = true; version != modern && !s.has("any revision") {
			return nil, &failure{code: -32022, message: "unsupported revision"}, true
		}
		return nil, nil, false
	case req.method == "initialize":
		*initialized = true
		var asked string
		if json.Unmarshal(req.params["protocolVersion"], &asked) != nil || !slices.Contains(legacies, asked) {
			asked = legacies[0]
		}
		return object{"protocolVersion": asked, "capabilities": capabilities(), "serverInfo": object{"name": "broken", "version": "1"}}, nil, true
	case !*initialized:
		return nil, &failure{code: -32600, message: "no handshake"}, true
	}
	return nil, nil, false
}
