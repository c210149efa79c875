package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// progress returns the notifications before the answer to a request that asks for them and, with a
// fault, those after it.
func (s *Server) progress(req request) (before, after [][]byte) {
	token := metaOf(req, "progressToken")
	late := s.has("progress after resources") && req.method == "resources/read"
	if token == "" || req.method != "tools/call" && req.method != "prompts/get" && !late {
		return nil, nil
	}
	if s.has("progress under another token") {
		token = "1"
	}
	if s.has("numbers of progress as texts") && token[0] != '"' {
		token = fmt.Sprintf("%q", token)
	}
	values := []int{1, 2}
	if s.has("progress that falls") || s.has("progress of tools that read falls") && readsOnly(req) ||
		s.has("progress of slow tools falls") && string(req.params["name"]) == `"slow"` {
		values = []int{2, 1}
	}
	for _, n := range values {
		before = append(before, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, n))
	}
	if s.has("logs of every level") {
		before = append(before, []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"begun"}}`))
	}
	if metaOf(req, "io.modelcontextprotocol/logLevel") == `"debug"` {
		before = append(before, s.logs(req)...)
	}
	if s.has("progress after the answer") || late {
		return before[:1], before[1:]
	}
	return before, nil
}

// readsOnly reports whether a request calls a read-only tool.
func readsOnly(req request) bool {
	name := string(req.params["name"])
	return name == `"total"` || name == `"page"` || name == `"ledger"`
}

// logs returns the logs of a request. Digests of its parameters are not a fault.
func (s *Server) logs(req request) [][]byte {
	data := object{}
	if s.has("digests in logs") {
		data["key"] = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, req.params)))
	}
	if s.has("keys in logs") {
		data["key"] = base64.RawURLEncoding.EncodeToString(s.Secret)
	}
	if s.has("settings in logs") {
		data["started"] = fmt.Sprintf("STATE_SECRET=%x", s.Secret)
	}
	if credential := base64.RawURLEncoding.EncodeToString(s.Secret[:18]); req.params["requestState"] != nil && s.has("credentials in logs of the last round") {
		data["request"] = object{"url": "https://registry.test.invalid/", "headers": object{"Authorization": "Bearer " + credential}}
	}
	if s.has("masked credentials in logs") { // not a fault
		data["request"] = object{"headers": object{"Authorization": "Bearer " + strings.Repeat("*", 24)}}
	}
	if s.has("states in logs") {
		data["state"] = string(req.params["requestState"])
	}
	if len(data) == 0 {
		return nil
	}
	raw, _ := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "debug", "data": data}})
	return [][]byte{raw}
}

// streamed answers with a stream of progress. It reports whether the request asked for progress.
func (s *Server) streamed(w http.ResponseWriter, r *http.Request, req request, message []byte) bool {
	before, after := s.progress(req)
	if before == nil {
		return false
	}
	flusher := startEventStream(w)
	if s.has(progressInTime...) {
		s.tellProgress(w, r, req)
		before = nil
	}
	all := slices.Concat(before, [][]byte{message}, after)
	for _, m := range all[:len(all)-1] {
		fmt.Fprintf(w, "data: %s\n\n", m)
	}
	end := "\n\n"
	if s.has("events of tools that read do not end") && readsOnly(req) {
		end = "\n"
	}
	fmt.Fprintf(w, "data: %s%s", all[len(all)-1], end)
	if flusher.Flush() == nil && s.has("streams left open") {
		<-r.Context().Done()
	}
	return true
}

// progressInTime are the choices of progress during a call. The first is not a fault.
var progressInTime = []string{"progress in time", "progress by token alone", "progress of the first under a token"}

const (
	progressSteps = 6
	progressPause = 150 * time.Millisecond
)

// tellProgress writes progress during a call. With a fault, it goes to another stream that has the same token.
func (s *Server) tellProgress(w http.ResponseWriter, r *http.Request, req request) {
	token := metaOf(req, "progressToken")
	own := func(message []byte) {
		fmt.Fprintf(w, "data: %s\n\n", message)
		_ = http.NewResponseController(w).Flush() // the client may be gone
	}
	s.mu.Lock()
	if s.listeners[token] == nil || !s.has("progress of the first under a token") {
		s.listeners[token] = own
	}
	s.mu.Unlock()
	for n := range progressSteps {
		_ = s.Clock.Sleep(r.Context(), progressPause)
		message := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":"step %d of %s"}}`, token, n+1, n+1, req.user)
		s.mu.Lock()
		to := own
		if s.has(progressInTime[1:]...) {
			to = s.listeners[token]
		}
		if to != nil {
			to(message)
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, token)
}

// metaOf returns a member of _meta of a request, or "".
func metaOf(r request, name string) string {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(r.params["_meta"], &meta) // none without an object
	return string(meta[name])
}
