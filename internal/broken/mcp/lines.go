package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// errEnded reports that a line made the server exit.
var errEnded = errors.New("the server ended")

// endInput does what the server does between the end of its input and its own. With roots, the client has roots.
func (s *Server) endInput(roots bool, write func([]byte)) {
	if s.said.get("waiting") != "" {
		_ = s.Clock.Sleep(context.Background(), time.Hour)
	}
	if roots && s.has("waits for the roots") { // not a fault
		_ = s.Clock.Sleep(context.Background(), time.Minute)
	}
	if s.has("noise at the end of input") {
		write([]byte("closed"))
	}
}

// ServeLines serves standard streams, with one message per line. It returns at the end of in, after
// every call has been answered.
func (s *Server) ServeLines(in io.Reader, out, errs io.Writer) error {
	write := s.lineWriter(out)
	var calls sync.WaitGroup
	defer calls.Wait()
	if s.has("noise on standard output") {
		write([]byte("listening"))
	}
	if s.has("requests to the client") {
		write(questionRequest("server-1", "confirm"))
	}
	initialized, roots := s.has("no handshake wanted"), false
	if s.has("chunks are lines") {
		in = lineFeedReader{in}
	}
	if s.has("chunks decoded alone") {
		in = byChunk{in}
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.endInput(roots, write)
			return nil
		}
		if first, rest, ok := strings.Cut(line, "\u2028"); ok && s.has("lines end at U+2028") {
			line, lines = first, bufio.NewReader(io.MultiReader(strings.NewReader(rest), lines))
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
		case s.has("bad lines end the server") && fail != nil, s.has("params of arrays end the server") && fail != nil && strings.Contains(line, `"params":[`):
			return errEnded
		case fail != nil:
			write(s.complaint(req, fail))
			continue
		case notification && req.method == "notifications/cancelled" && req.params["requestId"] == nil && s.has("cancellations of nothing end the server"),
			notification && req.method == "notifications/progress" && s.has("progress of a client ends the server"):
			return errEnded
		case notification && req.method == "notifications/roots/list_changed" && s.has("changes of roots logged"):
			write([]byte("the roots have changed"))
		case notification:
			if s.notified(req); s.refusesAloud(req) {
				write(responseBody(nil, nil, invalidParams("unknown tool")))
			}
			continue
		}
		if s.swallowed() || strings.HasPrefix(req.method, "sealab/") && s.has("unknown methods unanswered") {
			continue
		}
		roots = roots || req.method == "initialize" && strings.Contains(string(req.params["capabilities"]), `"roots"`)
		req.context = context.Background()
		result, fail, ok := s.handshake(&req, &initialized)
		if ok {
			write(responseBody(req.id, result, fail))
			continue
		}
		s.said.put("latest id", string(req.id))
		if answer := s.answering(req, write, errs); s.has("one call at a time") {
			answer()
		} else {
			calls.Go(answer)
		}
	}
}

// complaint returns the response to a line that cannot be read.
func (s *Server) complaint(req request, fail *failure) []byte {
	switch {
	case req.id == nil && s.has("bad lines are number 0"):
		return responseBody(json.RawMessage("0"), nil, fail)
	case s.has("bad lines logged"):
		return []byte("WARN a line cannot be read")
	default:
		return responseBody(req.id, nil, fail)
	}
}

// lineWriter returns a function that writes messages, one at a time.
func (s *Server) lineWriter(out io.Writer) func(line []byte) {
	var mu sync.Mutex
	return func(line []byte) {
		if s.has("messages over several lines") {
			var b bytes.Buffer
			_ = json.Indent(&b, line, "", "  ") // our own message
			line = b.Bytes()
		}
		mu.Lock()
		defer mu.Unlock()
		middle := len(line) / 2
		switch line = s.written(line); {
		case s.has("answers over two lines"):
			_, _ = fmt.Fprintf(out, "%s\n%s\n", line[:middle], line[middle:]) // the client may be gone
		case s.has("answers in parts"): // not a fault
			_, _ = out.Write(line[:middle])
			_ = s.Clock.Sleep(context.Background(), 10*time.Millisecond)
			line = line[middle:]
			fallthrough
		default:
			_, _ = fmt.Fprintf(out, "%s\n", line)
		}
	}
}

// answering registers a call that can be canceled. It returns a function that writes its response
// and related messages.
func (s *Server) answering(req request, write func(line []byte), errs io.Writer) func() {
	ctx, end := s.cancellable(context.Background(), req)
	return func() {
		defer end()
		if !s.slow(ctx, req) {
			return // canceled: no response
		}
		result, fail := s.handle(req)
		if fail != nil && s.has("refused tokens on standard error") {
			fmt.Fprintf(errs, "refused: %s\n", req.params["requestState"])
		}
		if fail != nil && s.has("environment in errors") {
			fail.message += " in " + strings.Join(os.Environ(), " ")
		}
		if fail != nil && s.has("errors answered twice") {
			write(responseBody(req.id, nil, fail))
		}
		req.id = s.idAfterWork(req, result)
		before, after := s.progress(req)
		for _, message := range slices.Concat(s.notices(), before, [][]byte{responseBody(s.echoedBy(fail, json.RawMessage(s.beside(req, "one id for calls at once", string(req.id)))), result, fail)}, after) {
			write(message)
		}
	}
}

// workChoices are the choices for last rounds that take time on standard streams. With the first, a fault,
// their responses have the id that was read last.
var workChoices = []string{"last rounds under the latest id", "last rounds after a while"}

// idAfterWork waits for the work of a call that completes an earlier round, and returns the id of its
// response.
func (s *Server) idAfterWork(req request, result object) json.RawMessage {
	if req.params["inputResponses"] == nil || result["resultType"] != "complete" || !s.has(workChoices...) {
		return req.id
	}
	time.Sleep(workTime)
	if s.has("last rounds under the latest id") {
		return json.RawMessage(s.said.get("latest id"))
	}
	return req.id
}

// handshake determines the era of a request. It reports whether its results are the answer.
func (s *Server) handshake(req *request, initialized *bool) (object, *failure, bool) {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(req.params["_meta"], &meta)
	var version string
	switch {
	case !s.has(Older) && json.Unmarshal(meta["io.modelcontextprotocol/protocolVersion"], &version) == nil:
		if req.modern = true; version != modernRevision && !s.has("any revision") && !(s.has("any later revision") && version > modernRevision) {
			return nil, &failure{code: -32022, message: "unsupported revision"}, true
		}
		return nil, nil, false
	case req.method == "initialize":
		*initialized = true
		var asked string
		if json.Unmarshal(req.params["protocolVersion"], &asked) != nil || !slices.Contains(legacyRevisions, asked) {
			asked = legacyRevisions[0]
		}
		return s.instructed(s.initializeResult(asked)), nil, true
	case !*initialized:
		return nil, &failure{code: -32600, message: "no handshake"}, true
	}
	return nil, nil, false
}

// lineFeedReader adds a line feed to each chunk that is read.
type lineFeedReader struct{ io.Reader }

func (c lineFeedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b[:len(b)-1])
	if n > 0 && b[n-1] != '\n' {
		b[n] = '\n'
		n++
	}
	return n, err
}

// byChunk replaces characters that are split between reads.
type byChunk struct{ io.Reader }

func (d byChunk) Read(b []byte) (int, error) {
	n, err := d.Reader.Read(b[:len(b)/3])
	return copy(b, strings.ToValidUTF8(string(b[:n]), "\ufffd")), err
}
