package mcp

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
)

// maxBody is the size of the largest request body, in bytes.
const maxBody = 4 << 20

// ServeHTTP serves the endpoint of streamable HTTP.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.readHeaders(r)
	if reader := s.reader(r.Header.Get("Origin")); reader != "" {
		w.Header().Set("Access-Control-Allow-Origin", reader)
	}
	s.abortIfDead()
	if s.forbidden(w, r) {
		return
	}
	if len(r.Header) > 50 && s.has("many headers end the server") {
		s.die()
		panic(http.ErrAbortHandler)
	}
	if s.page(w, r) {
		return
	}
	if s.has("any reader") {
		w.Header().Set("Access-Control-Allow-Origin", "https://evil.example")
	}
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		s.metadata(w, r)
		return
	}
	user, ok := s.user(r)
	if !ok {
		s.unauthorized(w, r)
		return
	}
	if s.has("cookies of users") {
		http.SetCookie(w, &http.Cookie{Name: "user", Value: user})
	}
	switch {
	case r.Method == http.MethodTrace && s.has("requests traced"):
		w.Header().Set("Content-Type", "message/http")
		_ = r.Header.Write(w) // the client may have closed the connection
	case r.Method == http.MethodPost, s.has("any verb") && r.Method != http.MethodGet, s.has("calls by GET") && r.Method == http.MethodGet && r.ContentLength > 0:
		s.post(w, r, user)
	case r.Header.Get("Mcp-Session-Id") != "" && r.Method == http.MethodGet, r.Method == http.MethodGet && s.has("streams without a session", "streams by event alone"):
		s.stream(w, r, user)
	case (r.Header.Get("Mcp-Session-Id") != "" || s.has("sessions to end are named")) && r.Method == http.MethodDelete:
		s.end(w, r, user)
	default:
		w.Header().Set("Allow", "POST")
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
	}
}

// readHeaders changes headers to the values that the server reads.
func (s *Server) readHeaders(r *http.Request) {
	for name, value := range r.Header {
		if cgi := strings.ReplaceAll(name, "_", "-"); cgi != name && s.has("header names as in CGI") {
			r.Header[http.CanonicalHeaderKey(cgi)] = value
		}
	}
	if s.has("revisions as lists") {
		first, _, _ := strings.Cut(strings.ReplaceAll(r.Header.Get("MCP-Protocol-Version"), ";", ","), ",")
		r.Header.Set("MCP-Protocol-Version", first)
	}
}

// page serves pages next to the endpoint. It reports whether there is one.
func (s *Server) page(w http.ResponseWriter, r *http.Request) bool {
	switch path := r.URL.Path; {
	case path == "/.well-known/jwks.json" && s.has("secret keys among the public ones"):
		fmt.Fprintf(w, `{"keys":[{"kty":"oct","k":%q}]}`, base64.RawURLEncoding.EncodeToString(s.Secret))
	case path == "/.well-known/jwks.json" && s.has("public keys in a set", "public keys as secrets"):
		fmt.Fprintf(w, `{"keys":[%s]}`, s.publicJWK())
	case path == "/.well-known/jwks.json" && s.has(keyPairChoices...):
		fmt.Fprintf(w, `{"keys":[%s]}`, s.keyPairJWK())
	case strings.HasPrefix(path, "/sealab") && s.has("paths in pages"):
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>Cannot GET %s</p>", path)
	case strings.HasPrefix(path, "/sealab") && s.has("folders in pages"):
		http.Error(w, "no file /srv/notes/public"+path, http.StatusNotFound)
	case path == "/health" && s.has("passwords on pages"):
		fmt.Fprint(w, `{"status":"ok","database":"postgres://app:S3cr3tPw@db.internal:5432/notes"}`)
	case path == "/env" && s.has("settings for everybody"):
		fmt.Fprintf(w, `{"STATE_KEY": "%x"}`, s.Secret)
	case path == "/env":
		http.NotFound(w, r)
	default:
		return false
	}
	return true
}

// unauthorized refuses a request without a user.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request) {
	s.challenge(w, r)
	if s.has("refused with status 200") {
		s.reply(w, 200, nil, nil, &failure{code: -32600, status: 200, message: "unauthorized"})
		return
	}
	said := "Unauthorized"
	if s.has("refusals repeat credentials") {
		said += ": unknown token " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	http.Error(w, said, http.StatusUnauthorized)
}

// die stops the server: it answers no more requests.
func (s *Server) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

// abortIfDead aborts the connection if the server has stopped.
func (s *Server) abortIfDead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		panic(http.ErrAbortHandler)
	}
}

// forbidden refuses foreign hosts and origins.
func (s *Server) forbidden(w http.ResponseWriter, r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	origin := r.Header.Get("Origin")
	opens := s.has("any origin on initialize") && r.Header.Get("MCP-Protocol-Version") == "" ||
		s.has("origins by their beginning") && strings.HasPrefix(origin, "http://"+host) ||
		s.has("clients by their end") && strings.HasSuffix(origin, "claude.ai") ||
		s.has("origins by their end") && strings.HasSuffix(origin, "localhost") ||
		s.has("any origin on calls") && r.Header.Get("Mcp-Method") == "tools/call" ||
		s.has("any origin in a session") && r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" ||
		s.has("any origin on streams") && r.Method == http.MethodGet ||
		s.has("texts from any origin") && strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") ||
		s.has("origins of extensions") && strings.Contains(origin, "-extension://") ||
		s.has("one extension") && origin == "chrome-extension://abcdefghijklmnopabcdefghijklmnop" ||
		s.has("any origin on lists of prompts") && r.Header.Get("Mcp-Method") == "prompts/list" ||
		s.has("any origin on prompts") && r.Header.Get("Mcp-Method") == "prompts/get"
	if s.has("hosts of request lines unread") && r.URL.IsAbs() {
		host = "localhost"
	}
	if s.has("Referer believed") && strings.Contains(r.Referer(), r.Host) {
		opens = true
	}
	if forwarded := r.Header.Get("X-Forwarded-Host"); forwarded != "" && s.has("forwarded hosts believed") {
		host = forwarded
	}
	if strings.HasPrefix(host, "127.0.0.1.") && s.has("hosts by their beginning") {
		host = "127.0.0.1"
	}
	anyHost := s.has("any host") || s.has("hosts named in Origin") && origin == "http://"+r.Host ||
		s.has("any host on prompts") && r.Header.Get("Mcp-Method") == "prompts/get" ||
		s.has("any host on initialize") && r.Method == http.MethodPost && r.Header.Get("MCP-Protocol-Version") == "" ||
		s.has("any host in a session") && r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" ||
		s.has("any host on streams") && r.Method == http.MethodGet
	switch {
	case !slices.Contains([]string{"127.0.0.1", "localhost", "[::1]", "::1"}, host) && !anyHost:
	case origin != "" && origin != "http://"+r.Host && !s.has("any origin", "any reader", "any type") && !opens:
	default:
		return false
	}
	http.Error(w, "Forbidden", http.StatusForbidden)
	return true
}

// reader returns the origin that may read a response, or "". A fixed origin is not a fault.
func (s *Server) reader(origin string) string {
	const own = "https://desk.notes.example"
	switch {
	case origin == "null" && s.has("frames in sandboxes may read"),
		strings.HasSuffix(origin, "claude.ai") && s.has("readers by their end"),
		strings.HasPrefix(origin, own) && s.has("readers by their beginning"):
		return origin
	case s.has("one reader", "readers by their beginning"):
		return own
	}
	return ""
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, user string) {
	if s.unacceptable(w, r) {
		return
	}
	body, ok := s.body(w, r)
	if !ok {
		return
	}
	if s.has("bodies of two lengths") && s.hide(r.RemoteAddr, body) {
		http.Error(w, "want a request", http.StatusBadRequest)
		return
	}
	if s.has("nested lists end the server", "nested lists end the connection") && bytes.Contains(body, []byte("[[[[[[[[")) && bytes.Contains(body, []byte(`"tools/call"`)) {
		if s.has("nested lists end the server") { // the other is sound
			s.die()
		}
		panic(http.ErrAbortHandler)
	}
	if s.has("batches end the server") && len(body) > 0 && body[0] == '[' {
		s.die()
		panic(http.ErrAbortHandler)
	}
	if s.has("arrays of notifications taken") && bytes.HasPrefix(body, []byte("[{")) && !bytes.Contains(body, []byte(`"id"`)) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if s.has("batches served") || s.has("batches of one") && isOne(body) {
		body = firstOf(body)
	}
	if s.has("requests read to their end alone") {
		body = firstDocument(body)
	}
	req, notification, fail := s.parse(body)
	if fail != nil {
		s.reply(w, 400, req.id, nil, fail)
		return
	}
	if hidden := s.hiddenBy(r.RemoteAddr); hidden != nil {
		req.id = hidden
	}
	user = s.renamed(user, req, r)
	req.user, req.origin, req.context, req.forwarded, req.team = user, r.RemoteAddr, r.Context(), r.Header.Get("X-Forwarded-Host"), r.Header.Get("X-Team")
	req.address = r.Header.Get("X-Forwarded-For")
	switch {
	case req.method == "notifications/cancelled" && s.has("no sessions") && r.Header.Get("MCP-Protocol-Version") != modernRevision:
		http.Error(w, "no session to notify", http.StatusBadRequest)
	case notification:
		s.notice(w, r, req)
	default:
		s.dispatch(w, r, req)
	}
}

// hide stores the ID of a request in a chunked body. A server that reads the body by its
// Content-Length answers that request next.
func (s *Server) hide(connection string, body []byte) bool {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(body)))
	if err != nil {
		return false
	}
	var m struct{ ID json.RawMessage }
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden[connection] = m.ID
	return true
}

// hiddenBy returns the ID of the request that was hidden on a connection, or nil.
func (s *Server) hiddenBy(connection string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hidden[connection]
}

// unacceptable refuses a request of another content type, or from a client that does not accept
// both response types.
func (s *Server) unacceptable(w http.ResponseWriter, r *http.Request) bool {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" && !s.has("any type") && !(s.has("texts from any origin") && media == "text/plain") {
		http.Error(w, "want application/json", http.StatusUnsupportedMediaType)
		return true
	}
	accept := r.Header.Get("Accept")
	if s.has("Accept is a fault") && accept == "text/html" {
		panic(http.ErrAbortHandler)
	}
	if !strings.Contains(accept, "*/*") && (!strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream")) {
		http.Error(w, "want both types", http.StatusNotAcceptable)
		return true
	}
	return false
}

// body reads the body of a request. It refuses one that is too large or cannot be decompressed.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	limit := int64(maxBody)
	if s.has("endless bodies") || s.has("endless bodies in chunks") && r.ContentLength < 0 {
		limit = 64 << 20
	}
	if s.has("one body at a time") {
		s.reading.Lock()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if s.has("one body at a time") {
		s.reading.Unlock()
	}
	if err != nil {
		if s.has("large bodies are no JSON") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(responseBody(nil, nil, &failure{code: -32700, message: "parse error"})) // the client may be gone
			return nil, false
		}
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if len(r.TransferEncoding) > 0 && s.has("chunks decoded alone") {
		body = bytes.ReplaceAll(body, []byte("\u00e9"), []byte("\ufffd\ufffd"))
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = s.inflated(body); err != nil {
			http.Error(w, "not readable", http.StatusUnsupportedMediaType)
			return nil, false
		}
	}
	return body, true
}

// notice handles a message that needs no answer.
func (s *Server) notice(w http.ResponseWriter, r *http.Request, req request) {
	s.notified(req)
	if req.method == "notifications/initialized" && s.has("sessions told in every stream") {
		raw, _ := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "info", "data": "ready: " + r.Header.Get("Mcp-Session-Id")}})
		s.keepEvent("", raw)
	}
	switch {
	case s.has("notifications answered"), req.method == "notifications/roots/list_changed" && s.has("changes of roots answered"):
		fmt.Fprint(w, `{"jsonrpc":"2.0"}`)
	case s.refusesAloud(req):
		_, _ = w.Write(responseBody(nil, nil, invalidParams("unknown tool"))) // the client may be gone
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// refusesAloud reports whether a call without an ID or a response is answered with an error without
// an ID. For a response this is not a fault.
func (s *Server) refusesAloud(req request) bool {
	return s.has("calls without an id refused aloud") && req.method == "tools/call" || s.has("responses refused aloud") && req.method == ""
}

// dispatch determines the era of a request and answers it.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, req request) {
	versions := r.Header.Values("MCP-Protocol-Version")
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(req.params["_meta"], &meta)
	var inBody string
	_ = json.Unmarshal(meta["io.modelcontextprotocol/protocolVersion"], &inBody)
	header := r.Header.Get("MCP-Protocol-Version")
	discovers := s.has("discovery in older revisions") && inBody == modernRevision // not a fault
	if s.has(Older) && !discovers || header == "" && inBody == "" || slices.Contains(legacyRevisions, header) && inBody == "" || req.session == "" && inBody == "" && r.Header.Get("Mcp-Session-Id") != "" {
		req.version = header
		s.legacy(w, r, req)
		return
	}
	if fail := s.modernHeaders(r, req, inBody, versions, meta); fail != nil {
		if s.retries(req, "wrong headers of retries refused in text") { // not a fault
			http.Error(w, "header and body differ", http.StatusBadRequest)
			return
		}
		s.reply(w, 400, req.id, nil, fail)
		return
	}
	switch {
	case r.Header.Get("Mcp-Session-Id") != "" && s.has("sessions repeated"):
		w.Header().Set("Mcp-Session-Id", r.Header.Get("Mcp-Session-Id"))
	case r.Header.Get("Last-Event-ID") != "" && s.has("Last-Event-ID refused"):
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	req.modern = true
	if strings.HasPrefix(req.method, "sealab") && s.has("pages of unknown methods") {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "<p>No method %s</p>", req.method)
		return
	}
	if req.method == "subscriptions/listen" {
		s.listen(w, r, req)
		return
	}
	if !s.slow(r.Context(), req) {
		return // canceled
	}
	if jsonNumber(meta["progressToken"]) && s.has("progress under numbers ends the connection") {
		panic(http.ErrAbortHandler)
	}
	result, fail := s.handle(req)
	if fail == nil && s.has("lists remembered by id") && strings.HasSuffix(req.method, "/list") {
		result = s.remembered(string(req.id), result)
	}
	if s.has("answers remembered by id") && (req.method == "tools/call" || req.method == "prompts/get") && fail == nil {
		result = s.remembered(string(req.id), result)
	}
	if fail == nil && s.has(routeChoices...) {
		result = s.routed(req, result)
	}
	if fail == nil && s.streamed(w, r, req, responseBody(s.echoed(req.id), result, nil)) {
		return
	}
	s.reply(w, 200, req.id, result, fail)
}

// Listener returns the listener to serve on. With a fault the server recognizes a header name only
// in the case that the protocol uses.
func (s *Server) Listener(l net.Listener) net.Listener {
	if !s.has("names of headers with case") {
		return l
	}
	return asWritten{l}
}

type asWritten struct{ net.Listener }

func (l asWritten) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return asWrittenConn{c}, err
}

type asWrittenConn struct{ net.Conn }

// Read renames a lower-case Mcp-Method. It assumes that the header arrives in one read.
func (c asWrittenConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return copy(b, bytes.ReplaceAll(b[:n], []byte("\nmcp-method:"), []byte("\nxcp-method:"))), err
}
