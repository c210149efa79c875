package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// progress are the notifications before the answer to a request that wants them, and with
// a fault behind it.
func (s *Server) progress(req request) (before, after [][]byte) {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(req.params["_meta"], &meta)
	token := meta["progressToken"]
	late := s.has("progress after resources") && req.method == "resources/read"
	if token == nil || req.method != "tools/call" && req.method != "prompts/get" && !late {
		return nil, nil
	}
	if s.has("progress under another token") {
		token = json.RawMessage("1")
	}
	values := []int{1, 2}
	if s.has("progress that falls") {
		values = []int{2, 1}
	}
	for _, n := range values {
		before = append(before, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, n))
	}
	if s.has("progress after the answer") || late {
		return before[:1], before[1:]
	}
	return before, nil
}

// streamed answers by a stream with progress; it reports whether the request wants some.
func (s *Server) streamed(w http.ResponseWriter, r *http.Request, req request, message []byte) bool {
	before, after := s.progress(req)
	if before == nil {
		return false
	}
	flusher := events(w)
	for _, m := range append(append(before, message), after...) {
		fmt.Fprintf(w, "data: %s\n\n", m)
	}
	if flusher.Flush() == nil && s.has("streams left open") {
		<-r.Context().Done()
	}
	return true
}
