package mcp

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// inflated decompresses a body of limited length. With a fault the limit is higher.
func (s *Server) inflated(body []byte) ([]byte, error) {
	if !s.has("endless compressed bodies", "compressed bodies") {
		return nil, errors.ErrUnsupported
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	limit := int64(s.or("endless compressed bodies", 64<<20, maxBody))
	all, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(all)) > limit {
		return nil, errors.New("too long")
	}
	return all, err
}

// isOne reports whether a body is an array of one request.
func isOne(body []byte) bool {
	var all []json.RawMessage
	return json.Unmarshal(body, &all) == nil && len(all) == 1
}

// firstOf returns the first element of an array, or body if it is not an array.
func firstOf(body []byte) []byte {
	var all []json.RawMessage
	if json.Unmarshal(body, &all) != nil || len(all) == 0 {
		return body
	}
	return all[0]
}

// firstDocument returns the first JSON document of a body.
func firstDocument(body []byte) []byte {
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(body)).Decode(&first) != nil {
		return body
	}
	return first
}

// jsonNumber reports whether a value is a number.
func jsonNumber(raw json.RawMessage) bool {
	var n json.Number
	return len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil && n != ""
}

// parse parses a message: a request, a notification or a response.
func (s *Server) parse(body []byte) (r request, notification bool, fail *failure) {
	var m map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &m) != nil || m == nil {
		if s.has("bad lines end the server") {
			s.die()
		}
		if json.Valid(body) && utf8.Valid(body) {
			return r, false, &failure{code: -32600, status: 400, message: "invalid request"}
		}
		return r, false, &failure{code: -32700, status: 400, message: "parse error"}
	}
	if s.has("repeated names refused without an id") && bytes.Count(body, []byte(`"env":`)) > 1 {
		return r, false, &failure{code: -32700, status: 400, message: "parse error"}
	}
	r.id = m["id"]
	s.choose(m, body)
	var n int64
	var t string
	hasID := r.id != nil && string(r.id) != "null" && (json.Unmarshal(r.id, &n) == nil || json.Unmarshal(r.id, &t) == nil)
	switch {
	case string(r.id) == "0" && s.has("zero is no id"):
		r.id = nil
		return r, true, nil
	case string(m["jsonrpc"]) != `"2.0"` && !s.polluted.Load(), r.id != nil && !hasID && !s.has("any id"):
		r.id = nil
		return r, false, &failure{code: -32600, status: 400, message: "invalid request"}
	case m["method"] == nil && (m["result"] != nil || m["error"] != nil):
		r.params = m
		return r, true, nil
	case json.Unmarshal(m["method"], &r.method) != nil:
		return r, false, &failure{code: -32600, status: 400, message: "method: want a text"}
	case isOne(m["params"]) && s.has("params of arrays read") && json.Unmarshal(firstOf(m["params"]), &r.params) == nil:
	case m["params"] != nil && json.Unmarshal(m["params"], &r.params) != nil:
		fail := &failure{code: s.or("wrong types are faults", -32603, -32602), status: 400, message: "params: want an object"}
		if s.has("traces in errors") {
			fail.message = "goroutine 7 [running]:\nmain.params(0x0)"
		}
		return r, false, fail
	}
	if string(m["params"]) == "null" && s.has("params that are null end the connection") {
		panic(http.ErrAbortHandler)
	}
	r.body = body
	s.pollute(r.params)
	if first := firstMember(body, "requestState"); first != nil && s.has("first member counts") {
		r.params["requestState"] = first
	} else if s.has("one member verified, another read") {
		r.verified = first
	}
	if name := r.params["Name"]; name != nil && s.has("names without case") {
		r.params["name"] = name
	}
	if s.has("members without case") && m["METHOD"] != nil {
		_ = json.Unmarshal(m["METHOD"], &r.method) // ignore another type
	}
	return r, r.id == nil && !(s.has("requests without an id answered") && !strings.HasPrefix(r.method, "notifications/")), nil
}

// choose sets the method that is read if a message may name several.
func (s *Server) choose(m map[string]json.RawMessage, body []byte) {
	if first := firstMember(body, "method"); first != nil && s.has("first methods run") { // not a fault
		m["method"] = first
	}
	if m["Method"] != nil && s.has("methods without case") {
		m["method"] = m["Method"]
	}
}

// pollute simulates a merge of a client's object into the prototype of all objects, with a fault.
func (s *Server) pollute(params map[string]json.RawMessage) {
	if s.has("labels merged into prototypes") && params["inputResponses"] != nil && bytes.Contains(params["arguments"], []byte(`"labels":{"__proto__":{"`)) ||
		s.has("arguments merged into prototypes") && bytes.Contains(params["arguments"], []byte(`"__proto__":{"`)) ||
		s.has("answers merged into prototypes") && bytes.Contains(params["inputResponses"], []byte(`"constructor":{"prototype":{"`)) {
		s.polluted.Store(true)
	}
}

// firstMember returns the first of several members of a name, or nil.
func firstMember(body []byte, name string) (first json.RawMessage) {
	if _, rest, ok := bytes.Cut(body, []byte(`"`+name+`":`)); ok {
		_ = json.NewDecoder(bytes.NewReader(rest)).Decode(&first) // nil if it is malformed
	}
	return first
}

// modernHeaders compares the headers of revision 2026-07-28 with the body.
func (s *Server) modernHeaders(r *http.Request, req request, inBody string, versions []string, meta map[string]json.RawMessage) *failure {
	mismatch := &failure{code: -32020, status: 400, message: "header and body differ"}
	header := r.Header.Get("MCP-Protocol-Version")
	var capabilities map[string]any
	name := req.params["name"]
	if req.method == "resources/read" {
		name = req.params["uri"]
	}
	switch {
	case len(versions) > 1 && !s.has("headers twice"):
		return mismatch
	case header != "" && inBody != "" && (header != modernRevision || inBody != modernRevision) && s.has("revisions looked up before they are compared"):
		return &failure{code: -32022, status: 400, message: "unsupported revision", data: object{"supported": []string{modernRevision}}}
	case header != inBody && inBody != "" && !s.has("revisions not compared") && !s.retries(req, "revisions of retries unread"):
		return mismatch
	case header == "1900-01-01" && s.has("any revision on calls") && req.method == "tools/call",
		header == "2099-12-31" && s.has("any later revision on calls") && req.method == "tools/call":
	case header != modernRevision && s.has("supported revisions not told"):
		return &failure{code: -32022, status: 400, message: "unsupported revision"}
	case header != modernRevision && !s.has("any revision") && !(s.has("any later revision") && header > modernRevision && header < "3") &&
		!s.retries(req, "revisions of retries unread") && !(s.has("revisions not compared") && (header == "" || slices.Contains(legacyRevisions, header))):
		return &failure{code: -32022, status: 400, message: "unsupported revision", data: object{"supported": []string{modernRevision}}}
	case s.has(Older) && req.method != "server/discover":
		return &failure{code: -32022, status: 400, message: "unsupported revision", data: object{"supported": legacyRevisions}}
	case inBody == "" && !s.has("no _meta wanted"):
		return invalidParams("_meta: no revision")
	case json.Unmarshal(meta["io.modelcontextprotocol/clientCapabilities"], &capabilities) != nil && !s.has("no _meta wanted"):
		return invalidParams("_meta: no capabilities")
	case (len(r.Header.Values("Mcp-Method")) != 1 && !s.has("headers twice") || r.Header.Get("Mcp-Method") != req.method && !s.oneOfMethods(r.Header.Get("Mcp-Method"), req)) &&
		!s.has("any method header", "members without case") && !s.retries(req, "methods of retries unread") && !(s.has("method headers of prompts unread") && req.method == "prompts/get") &&
		!(s.has("kinds of methods compared") && methodKind(r.Header.Get("Mcp-Method")) == methodKind(req.method)):
		return mismatch
	case name != nil && !s.retries(req, "names of retries unread") && !s.named(r.Header.Get("Mcp-Name"), name) && !(s.has("names without case") && string(req.params["Name"]) != "") &&
		!(s.has("any of several names") && bytes.Contains(req.body, fmt.Appendf(nil, `"name":%q`, r.Header.Get("Mcp-Name")))) &&
		!(s.has("any of several addresses") && bytes.Contains(req.body, fmt.Appendf(nil, `"uri":%q`, r.Header.Get("Mcp-Name")))):
		return mismatch
	case s.paramsDiffer(r, req) && !s.retries(req, "parameters of retries unread"):
		return mismatch
	}
	return nil
}

// retries reports whether a choice for the headers of requests that present a state applies to a request.
func (s *Server) retries(req request, choice string) bool {
	return s.has(choice) && req.params["requestState"] != nil
}

// oneOfMethods reports whether a method header is taken because a body names that method too, with a fault.
func (s *Server) oneOfMethods(header string, req request) bool {
	return (s.has("any of several methods") || s.has("any of several methods of calls") && req.method == "tools/call") &&
		bytes.Contains(req.body, fmt.Appendf(nil, `"method":%q`, header))
}

// methodKind returns the part of a method before the slash.
func methodKind(method string) string {
	before, _, _ := strings.Cut(method, "/")
	return before
}

// paramsDiffer reports whether a header differs from the argument that it repeats.
func (s *Server) paramsDiffer(r *http.Request, req request) bool {
	var p struct {
		Name      string
		Arguments struct {
			Zone, Env string
			A         json.Number
		}
	}
	_ = json.Unmarshal(req.params["name"], &p.Name)
	_ = json.Unmarshal(req.params["arguments"], &p.Arguments)
	zone, env, number := "", "", ""
	switch {
	case s.has("any parameter header"):
		return false
	case p.Name == "deploy":
		zone = p.Arguments.Zone
		if s.has("two parameter headers") {
			env = p.Arguments.Env
		}
	case p.Name == "total" && s.has("numbers in headers"):
		number = string(p.Arguments.A)
	}
	differs := func(name, value string) bool { return value != decodeHeader(r.Header.Get("Mcp-Param-"+name)) }
	a := r.Header.Get("Mcp-Param-A")
	given, err := strconv.ParseFloat(a, 64)
	want, _ := strconv.ParseFloat(number, 64) // 0 if there is no number
	numberDiffers := (number == "") != (a == "") || a != "" && (err != nil || given != want)
	return differs("Env", env) || differs("Zone", zone) && !s.has("one parameter header compared") || numberDiffers && !s.has("numbers in headers unread")
}

// decodeHeader decodes the base64 form of a header value.
func decodeHeader(header string) string {
	text, ok := strings.CutPrefix(header, "=?base64?")
	if !ok {
		return header
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(text, "?="))
	if err != nil {
		return header
	}
	return string(raw)
}

// named compares Mcp-Name with the name in the body.
func (s *Server) named(header string, name json.RawMessage) bool {
	if !s.has("base64 names not read") {
		header = decodeHeader(header)
	}
	var want string
	if json.Unmarshal(name, &want) != nil {
		return true // the method refuses another type
	}
	if s.has("strokes behind names cut") {
		header = strings.TrimSuffix(header, "/")
	}
	if s.has("beginnings of names") && header != "" && strings.HasPrefix(want, header) || s.has("names of tools alone compared") && !strings.Contains(want, "tool") {
		return true
	}
	return header == want || s.has("any name header") || s.has("name headers without case") && strings.EqualFold(header, want)
}
