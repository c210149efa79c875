package example

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file repairs answers of go-sdk v1.8.0 that differ from revision 2026-07-28
// (basic/transports, basic/versioning). A test for each repair fails once the SDK has changed.

// versions are the revisions that the SDK serves.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const codeHeaderMismatch = -32020

// A refusal answers a message that the SDK does not receive.
type refusal struct {
	id   json.RawMessage // nil: unknown
	wire jsonrpc.Error
}

// MarshalJSON implements json.Marshaler.
func (r refusal) MarshalJSON() ([]byte, error) {
	type answer struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}
	id := r.id
	if id == nil {
		id = json.RawMessage("null")
	}
	return json.Marshal(answer{"2.0", id, r.wire})
}

// envelope is the part of a request that this file checks.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

// checkVersion refuses a request of a revision that the server does not speak. The SDK would serve
// it if the revision is older than 2026-07-28. The header is "" on stdio.
func checkVersion(header string, body []byte) *refusal {
	var e envelope
	_ = json.Unmarshal(body, &e) // the SDK answers messages that are not requests
	var version string
	if json.Unmarshal(e.Params.Meta[mcp.MetaKeyProtocolVersion], &version) != nil {
		version = ""
	}
	if header != "" {
		version = header // if the body differs, the SDK answers -32020
	}
	if version == "" || slices.Contains(versions, version) {
		return nil
	}
	data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions, Requested: version})
	if err != nil {
		panic("mcpserver: " + err.Error()) // strings always encode
	}
	return &refusal{e.ID, jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "Unsupported protocol version", Data: data}}
}

// maxLarge is the number of bodies of largeBody bytes or more that are decoded at the same time.
// The SDK needs about 20 bytes of memory for each byte of a body.
const (
	maxLarge  = 3
	largeBody = 64 << 10
)

// repaired wraps the SDK's handler:
//
//   - a duplicate header is error -32020 (the SDK reads the first)
//   - Mcp-Name in base64 is decoded (the SDK compares its raw text)
//   - Last-Event-ID is ignored (the SDK answers 400)
//   - an unsupported revision is error -32022 (the SDK answers with plain text)
//   - at most maxLarge bodies of largeBody bytes or more are decoded at once; others wait
func repaired(next http.Handler) http.Handler {
	large := make(chan struct{}, maxLarge)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Last-Event-ID")
		if refused := repairHeaders(r.Header); refused != nil {
			refused.write(w)
			return
		}
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		body, err := io.ReadAll(io.LimitReader(r.Body, largeBody))
		if err == nil && len(body) == largeBody {
			select {
			case large <- struct{}{}:
			case <-r.Context().Done():
				return
			}
			slot := &slot{ResponseWriter: w, free: sync.OnceFunc(func() { <-large })}
			defer slot.free()
			w = slot
			var rest []byte
			rest, err = io.ReadAll(r.Body)
			body = append(body, rest...)
		}
		if err == nil {
			if refused := checkVersion(r.Header.Get("Mcp-Protocol-Version"), body); refused != nil {
				refused.write(w)
				return
			}
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), failing{err}), r.Body}
		next.ServeHTTP(w, r)
	})
}

// A slot is a response to a large body, which occupies one of the maxLarge places. It frees the
// place when the response begins: the body is then decoded, and the response may last.
type slot struct {
	http.ResponseWriter
	free func()
}

func (s *slot) WriteHeader(status int) {
	s.free()
	s.ResponseWriter.WriteHeader(status)
}

func (s *slot) Write(text []byte) (int, error) {
	s.free()
	return s.ResponseWriter.Write(text)
}

// Flush implements http.Flusher.
func (s *slot) Flush() {
	s.free()
	_ = http.NewResponseController(s.ResponseWriter).Flush() // the next Write reports a closed connection
}

// Unwrap implements the unwrapping of http.ResponseController.
func (s *slot) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// failing is a reader that returns err, or io.EOF if err is nil.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

func (r *refusal) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(r) // the client may have closed the connection
}

// repairHeaders decodes Mcp-Name and refuses duplicate headers of the protocol.
func repairHeaders(h http.Header) *refusal {
	for name, values := range h {
		if len(values) > 1 && (strings.HasPrefix(name, "Mcp-") || name == "Authorization" || name == "Content-Type") {
			return mismatch("header " + name + " is given twice")
		}
	}
	encoded, found := strings.CutPrefix(h.Get("Mcp-Name"), "=?base64?")
	if !found {
		return nil
	}
	encoded, found = strings.CutSuffix(encoded, "?=")
	name, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !found || err != nil || !utf8.Valid(name) {
		return mismatch("header Mcp-Name is not base64 of UTF-8")
	}
	h["Mcp-Name"] = []string{string(name)}
	return nil
}

func mismatch(text string) *refusal {
	return &refusal{nil, jsonrpc.Error{Code: codeHeaderMismatch, Message: text}}
}

// Stdio returns the transport over standard input and output. It answers lines that are not
// messages with an error. The SDK's own transport would end the server.
func Stdio(in io.Reader, out io.Writer) mcp.Transport {
	w := &lockedWriter{Writer: out}
	return &mcp.IOTransport{Reader: &messages{in: bufio.NewReaderSize(in, 64<<10), out: w}, Writer: w}
}

type lockedWriter struct {
	mu sync.Mutex
	io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Writer.Write(p)
}

func (*lockedWriter) Close() error { return nil }

// messages reads the lines of in that are messages, and answers the others on out.
type messages struct {
	in   *bufio.Reader
	out  io.Writer
	line []byte // the unread rest of a message
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.line) == 0 {
		line, err := m.next()
		if err != nil {
			return 0, err
		}
		if refused := checkLine(line); refused != nil {
			if err := m.answer(refused); err != nil {
				return 0, err
			}
			continue
		}
		m.line = line
	}
	n := copy(p, m.line)
	m.line = m.line[n:]
	return n, nil
}

// Close implements io.Closer.
func (*messages) Close() error { return nil }

// errLong reports a line of more than maxBody bytes.
var errLong = errors.New("a message of more than 1 MiB")

// next returns the next line that is not blank, with its line feed.
func (m *messages) next() ([]byte, error) {
	for {
		line, err := m.readLine()
		if errors.Is(err, errLong) {
			if err := m.answer(&refusal{nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}}); err != nil {
				return nil, err
			}
			continue
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			return append(text, '\n'), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine reads a line. It skips the rest of a line that is too long.
func (m *messages) readLine() (line []byte, err error) {
	long := false
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxBody; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		default:
			return line, err
		}
	}
}

// checkLine refuses a line that is not a message, and a request of an unsupported revision.
func checkLine(line []byte) *refusal {
	switch _, err := jsonrpc.DecodeMessage(line); {
	case !json.Valid(line) || !utf8.Valid(line):
		return &refusal{nil, jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "Parse error"}}
	case err != nil:
		return &refusal{nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request"}}
	}
	return checkVersion("", line)
}

// answer writes a refusal.
func (m *messages) answer(r *refusal) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = m.out.Write(append(text, '\n'))
	return err
}
