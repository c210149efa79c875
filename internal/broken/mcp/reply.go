package mcp

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"
)

// reply writes a JSON-RPC response.
func (s *Server) reply(w http.ResponseWriter, status int, id json.RawMessage, result object, fail *failure) {
	if fail != nil {
		status = fail.status
		if fail.header != "" {
			w.Header().Set("X-Error-Reason", fail.header)
		}
		if fail.number != 0 {
			w.Header().Set("X-Line", strconv.Itoa(fail.number))
		}
	}
	switch {
	case s.has("answers for shared caches"):
		w.Header().Set("Cache-Control", "public, max-age=60")
	case s.has("answers for the cache of a user"):
		w.Header().Set("Cache-Control", "private, max-age=60")
	}
	if id = s.echoedBy(fail, id); fail != nil && s.has("errors without an id") {
		id = nil
	}
	if text := bytes.Trim(id, `"`); fail != nil && s.has("texts of digits are numbers in errors") && jsonNumber(text) {
		id = text
	}
	if s.has("results beside errors") && fail != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"result":null,%s`, responseBody(id, nil, fail)[1:])
		return
	}
	if state, _ := result["requestState"].(string); state != "" && s.has("states in a header") {
		w.Header().Set("X-State", state)
	}
	if text := ""; s.has("ids in events") && fail == nil {
		_ = json.Unmarshal(id, &text) // a number has no lines
		startEventStream(w)
		fmt.Fprintf(w, "id: %s\ndata: %s\n\n", text, responseBody(id, result, fail))
		return
	}
	if raw := responseBody(id, result, fail); fail == nil && s.has("messages in two events", "messages over two lines") {
		between := map[bool]string{true: "\n\ndata: ", false: "\ndata: "}[s.has("messages in two events")]
		startEventStream(w)
		at := bytes.IndexByte(raw, ',') + 1
		fmt.Fprintf(w, "event: message\ndata: %s%s%s\n\n", raw[:at], between, raw[at:])
		return
	}
	if fail == nil && s.has("answers in events of another name") {
		startEventStream(w)
		fmt.Fprintf(w, "event: result\ndata: %s\n\n", responseBody(id, result, fail))
		return
	}
	if notices := s.notices(); notices != nil && fail == nil {
		startEventStream(w)
		for _, message := range append(notices, responseBody(id, result, fail)) {
			fmt.Fprintf(w, "data: %s\n\n", message)
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if s.has("results as text") || fail != nil && s.has("errors as text") {
		w.Header().Set("Content-Type", "text/plain")
	}
	raw := s.compressed(w, s.written(responseBody(id, result, fail)))
	if s.has("lengths in characters") {
		raw = raw[:utf8.RuneCount(raw)]
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client may have closed the connection
	if fail != nil && s.has("errors followed by data") {
		fmt.Fprint(w, "\n{}")
	}
}

// longAnswer is the length from which answers are compressed, in bytes.
const longAnswer = 4096

// compressed compresses a long body without regard to Accept-Encoding, with a fault.
func (s *Server) compressed(w http.ResponseWriter, body []byte) []byte {
	switch {
	case s.has("codings named"): // not a fault
		w.Header().Set("Content-Encoding", "identity")
	case s.has("long answers compressed") && len(body) > longAnswer:
		w.Header().Set("Content-Encoding", "gzip")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body) // a buffer takes everything
		_ = z.Close()
		return b.Bytes()
	}
	return body
}

// echoedBy returns the ID for a response or, unless fail is nil, for an error.
func (s *Server) echoedBy(fail *failure, id json.RawMessage) json.RawMessage {
	if fail != nil && s.has("ids that count as false lost in errors") && slices.Contains([]string{"0", `""`}, string(id)) {
		return nil
	}
	return s.echoed(id)
}

// echoed returns the ID for a response.
func (s *Server) echoed(id json.RawMessage) json.RawMessage {
	if n, err := strconv.Atoi(string(id)); err == nil && s.has("ids of 32 bits") {
		return strconv.AppendInt(nil, int64(int32(n)), 10)
	}
	if s.has("numbers come back as texts") && len(id) > 0 && id[0] != '"' {
		return fmt.Appendf(nil, "%q", id)
	}
	if text := bytes.Trim(id, `"`); s.has("texts of digits are numbers") && len(text) > 0 && len(bytes.Trim(text, "0123456789")) == 0 {
		return text
	}
	if text := bytes.Trim(id, `"`); s.has("texts of signed numbers are numbers") && jsonNumber(text) && bytes.ContainsAny(text, "-.e") {
		return text
	}
	if text := bytes.TrimLeft(bytes.TrimPrefix(id, []byte(`"`)), "0"); s.has("zeros before digits cut") && bytes.HasPrefix(id, []byte(`"0`)) {
		return fmt.Appendf(nil, `"%s`, text)
	}
	return id
}

// written returns a message in the encoding in which it is sent.
func (s *Server) written(message []byte) []byte {
	switch {
	case s.has("numbers that are none"):
		return bytes.ReplaceAll(message, []byte(`"ttlMs":0`), []byte(`"ttlMs":NaN`))
	case s.has("answers in Latin-1"):
		var b []byte
		for _, r := range string(message) {
			b = append(b, byte(r))
		}
		return b
	case s.has("tabs unescaped"):
		return bytes.ReplaceAll(message, []byte(`\t`), []byte("\t"))
	}
	return message
}

// notices returns notifications that no request asked for.
func (s *Server) notices() [][]byte {
	if !s.has("logs for everybody") {
		return nil
	}
	return slices.Repeat([][]byte{[]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"at work"}}`)}, 3)
}

func responseBody(id json.RawMessage, result object, fail *failure) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	m := object{"jsonrpc": "2.0", "id": id}
	if fail == nil {
		m["result"] = result
	} else {
		e := object{"code": fail.code, "message": fail.message}
		if fail.data != nil {
			e["data"] = fail.data
		}
		m["error"] = e
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return raw
}

// remembered returns the first result stored under an ID.
func (s *Server) remembered(id string, result object) object {
	raw, _ := json.Marshal(result) // our own value
	var first object
	_ = json.Unmarshal([]byte(s.said.first(id, string(raw))), &first) // our own value
	return first
}
