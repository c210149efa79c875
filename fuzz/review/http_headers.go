package review

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"sealab/internal/rawmcp"
)

const transportSpec = "revision 2026-07-28, basic/transports/streamable-http"

// header are the checks of headers and their agreement with the body, over HTTP
// in revision 2026-07-28.
var header = []Check{
	{ID: "H-VER", Name: "an unknown revision", Over: "http", Era: "modern", Severity: Critical, Category: "transport",
		Sent: "the revisions 1900-01-01, 2099-12-31 and banana in header and body, the first also on a call of an unknown tool", Want: "error -32022 that names the supported revisions", Source: transportSpec + " and versioning",
		Impact: "client and server speak different protocols without noticing", Fix: "compare the revision with those supported before anything else and answer -32022 with data.supported", Run: versions},
	{ID: "H-VERMIS", Name: "header and body of different revisions", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "one revision in the header and another in _meta, either way; a list and a parameter in the header; no header with a body of 2026-07-28", Want: "error -32020, or -32022 for a revision that the server does not list", Source: transportSpec,
		Impact: "an intermediary routes by the header and the server acts by the body", Fix: "compare MCP-Protocol-Version with _meta and answer -32020", Run: versionMismatch},
	{ID: "H-META", Name: "a request without its _meta", Over: "http", Era: "modern", Severity: Warning, Category: "schema",
		Sent: "no _meta, no protocolVersion, no clientCapabilities, a text as clientCapabilities", Want: "error -32602", Source: "revision 2026-07-28, basic",
		Impact: "the server guesses what the client can do", Fix: "require the members of _meta and answer -32602", Run: missingMeta},
	{ID: "H-METHOD", Name: "Mcp-Method that differs from the body", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "no Mcp-Method, another one before each method, one of the same kind, one in upper case, one with another character in the place of its hyphen", Want: "error -32020", Source: transportSpec,
		Impact: "a gateway that filters by header is passed", Fix: "compare Mcp-Method with method and answer -32020", Run: methodHeader},
	{ID: "H-NAME", Name: "Mcp-Name that differs from the body", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "a call of an unknown tool with no Mcp-Name, with another one, with a part of its own, with a stroke behind its own, and with its own in upper case; an unknown prompt and an unknown resource with another one", Want: "error -32020", Source: transportSpec,
		Impact: "a gateway that filters tools by header is passed", Fix: "compare Mcp-Name with the name and answer -32020", Run: nameHeader},
	{ID: "H-NAME64", Name: "Mcp-Name in base64", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "a call of an unknown tool with Mcp-Name in the base64 form: the right name, another one", Want: "the right one is taken, another is refused with -32020", Source: transportSpec,
		Impact: "tools whose names are not ASCII cannot be called", Fix: "decode =?base64?...?= before the comparison", Run: nameBase64},
	{ID: "H-TWICE", Name: "a header that stands twice", Over: "http", Era: "modern", Severity: Suggestion, Category: "transport",
		Sent: "Mcp-Method, MCP-Protocol-Version and, on this machine, Host twice with two values; another host in the request line", Want: "refused", Source: "RFC 9110, section 5.3; RFC 9112, section 3.2",
		Impact: "an intermediary reads one value and the server the other", Fix: "refuse headers that stand twice", Run: headerTwice},
	{ID: "H-SMUGGLE", Name: "a member that stands twice", Over: "http", Era: "modern", Severity: Critical, Category: "security",
		Sent: "method and name twice in the body, also in another case, the header once for each; Method alone", Want: "the method that the header names, or an error", Source: transportSpec + "; RFC 8259, section 4",
		Impact: "the header that a gateway checked says one method and another is carried out", Fix: "refuse members that stand twice, or compare the header with the one that is carried out", Run: smuggled},
	{ID: "H-SESSION", Name: "a session in a revision without sessions", Over: "http", Era: "modern", Severity: Suggestion, Category: "transport",
		Sent: "a made-up Mcp-Session-Id", Want: "ignored and not repeated", Source: transportSpec, Impact: "a client of older revisions is refused, or its header is reflected", Fix: "ignore the header", Run: sessionHeader},
	{ID: "H-LASTID", Name: "Last-Event-ID in a revision without it", Over: "http", Era: "modern", Severity: Suggestion, Category: "transport",
		Sent: "Last-Event-ID", Want: "ignored", Source: transportSpec, Impact: "a client of older revisions is refused", Fix: "ignore the header", Run: lastEventID},
	{ID: "H-VERB", Name: "another HTTP method", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "PUT, PATCH, DELETE, HEAD, TRACE; GET and OPTIONS; an honest request by GET in the body, in the query and with X-HTTP-Method-Override", Want: "status 405; GET may open a stream, OPTIONS may be a preflight", Source: transportSpec, Impact: "proxies and monitors misread the server; a call by GET is made by every link, is repeated, cached and logged; TRACE shows credentials to pages", Fix: "answer 405 with Allow", Run: verbs},
}

func versions(t *T) {
	var all []wireCase
	for _, v := range []string{"1900-01-01", "2099-12-31", "banana"} {
		all = append(all, wireCase{name: v, alter: func(w *wire) {
			w.set("MCP-Protocol-Version", v)
			w.replace(modern, v)
		}, judge: unsupported})
	}
	if own := t.r.client.call(t.ctx, unknownCall); own.Kind == failed { // or only before some methods
		all = append(all, wireCase{name: "1900-01-01, a call", call: unknownCall, alter: func(w *wire) {
			w.set("MCP-Protocol-Version", "1900-01-01")
			w.replace(modern, "1900-01-01")
		}, judge: func(a Answer) (Severity, string) {
			if a.Kind == failed && a.Code != -32022 && a.refusal() == own.refusal() {
				return Warning, "refused by the name of the tool alone"
			}
			return "", ""
		}})
	}
	t.cases(all...)
}

// unsupported wants the error of a revision that the server does not support, with those
// that it does.
func unsupported(a Answer) (Severity, string) {
	severity, issue := wantCode(Critical, Warning, -32022)(a)
	if issue == "" && members(a.Data)["supported"] == nil {
		return Warning, "refused with -32022 that names no supported revision"
	}
	return severity, issue
}

func versionMismatch(t *T) {
	want := wantCode(Warning, Warning, -32020)
	t.cases(
		wireCase{name: "an older body", alter: func(w *wire) { w.replace(modern, older) }, judge: orUnsupported(want)},
		wireCase{name: "an older header", alter: func(w *wire) { w.set("MCP-Protocol-Version", older) }, judge: orUnsupported(want)},
		wireCase{name: "no header", alter: func(w *wire) { w.drop("MCP-Protocol-Version") }, judge: want},
		wireCase{name: "a list in the header", alter: func(w *wire) { w.set("MCP-Protocol-Version", modern+", "+older) }, judge: wantRefused(Warning)},
		wireCase{name: "a parameter in the header", alter: func(w *wire) { w.set("MCP-Protocol-Version", modern+";q=1") }, judge: wantRefused(Warning)},
	)
}

// orUnsupported accepts -32022 as well, if the server does not list the older revision: the
// specification orders both errors and leaves open which one comes first.
func orUnsupported(want func(Answer) (Severity, string)) func(Answer) (Severity, string) {
	return func(a Answer) (Severity, string) {
		if supported := members(a.Data)["supported"]; a.Code == -32022 && supported != nil && !bytes.Contains(supported, []byte(older)) {
			return "", ""
		}
		return want(a)
	}
}

func missingMeta(t *T) {
	want := wantCode(Warning, Suggestion, -32602)
	t.cases(
		wireCase{name: "no _meta", alter: func(w *wire) { w.replace(`"_meta":`, `"meta":`) }, judge: want},
		wireCase{name: "no protocolVersion", alter: func(w *wire) { w.replace(metaVersion, "x/none") }, judge: want},
		wireCase{name: "no clientCapabilities", alter: func(w *wire) { w.replace(metaCapabilities, "x/none") }, judge: want},
		wireCase{name: "a text as clientCapabilities", alter: func(w *wire) { w.replace(everyCapability, `"all"`) }, judge: want},
	)
}

func methodHeader(t *T) {
	want := wantCode(Warning, Warning, -32020)
	other := t.everywhere("another Mcp-Method", Warning, func(w *wire, method string) {
		if w.set("Mcp-Method", "tools/call"); method == "tools/call" {
			w.set("Mcp-Method", "prompts/get")
		}
	})
	t.cases(append(other,
		wireCase{name: "no Mcp-Method", alter: func(w *wire) { w.drop("Mcp-Method") }, judge: want},
		wireCase{name: "another Mcp-Method", alter: func(w *wire) { w.set("Mcp-Method", "prompts/list") }, judge: want},
		wireCase{name: "an Mcp-Method of the same kind", alter: func(w *wire) { w.set("Mcp-Method", "tools/call") }, judge: want},
		wireCase{name: "Mcp-Method in upper case", alter: func(w *wire) { w.set("Mcp-Method", "TOOLS/LIST") }, judge: want},
		renamed("Mcp_Method"), renamed("Mcp.Method"),
	)...)
}

// renamed is a request whose Mcp-Method has another name, which gateways pass on unread.
func renamed(name string) wireCase {
	return wireCase{name: name, alter: func(w *wire) {
		w.drop("Mcp-Method")
		w.add(name, listCall.Method)
	}, judge: wantRefused(Suggestion)}
}

// noSuchTool is the name of a tool that no server has, so that its call is
// harmless.
const noSuchTool = "sealab-no-such-tool"

var unknownCall = Call{Method: "tools/call", Target: noSuchTool, Arguments: []byte("{}")}

// mismatched reports whether a server refuses an Mcp-Name of its own accord:
// with an honest header the unknown tool gives another answer.
func (t *T) mismatched() bool {
	a := t.r.client.call(t.ctx, unknownCall)
	if !a.conclusive() || a.Code == -32020 || len(t.r.Report.Server.Tools) == 0 {
		t.skip("control: a call of an unknown tool: %v", a)
		return false
	}
	return true
}

func nameHeader(t *T) {
	if !t.mismatched() {
		return
	}
	want := func(a Answer) (Severity, string) {
		if a.Code == -32020 || a.Kind == httpError {
			return "", ""
		}
		return Warning, "taken as if the header were right"
	}
	all := []wireCase{{name: "the beginning of the name", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", noSuchTool[:len(noSuchTool)/2]) }, judge: want},
		{name: "the name with more characters", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", noSuchTool+"s") }, judge: want},
		{name: "the name with a stroke", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", noSuchTool+"/") }, judge: want}}
	for _, call := range []Call{{Method: "prompts/get", Target: noSuchPrompt}, {Method: "resources/read", Target: missingURI}} {
		if a := t.r.client.call(t.ctx, call); a.Kind == failed && a.Code != -32020 && a.Code != -32601 {
			all = append(all, wireCase{name: "another Mcp-Name, " + call.Method, call: call, alter: func(w *wire) { w.set("Mcp-Name", "other") }, judge: want})
		}
	}
	t.cases(append(all,
		wireCase{name: "no Mcp-Name", call: unknownCall, alter: func(w *wire) { w.drop("Mcp-Name") }, judge: want},
		wireCase{name: "another Mcp-Name", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", "other") }, judge: want},
		wireCase{name: "Mcp-Name in upper case", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", strings.ToUpper(noSuchTool)) }, judge: want},
	)...)
}

// base64Form writes a value of a header in the base64 form of the transport.
func base64Form(text string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

func nameBase64(t *T) {
	if !t.mismatched() {
		return
	}
	t.cases(
		wireCase{name: "the right name", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", base64Form(noSuchTool)) }, judge: func(a Answer) (Severity, string) {
			if a.Code == -32020 || a.Kind == httpError {
				return Warning, "refused"
			}
			return "", ""
		}},
		wireCase{name: "another name", call: unknownCall, alter: func(w *wire) { w.set("Mcp-Name", base64Form("other")) }, judge: func(a Answer) (Severity, string) {
			if a.Code == -32020 || a.Kind == httpError {
				return "", ""
			}
			return Warning, "taken as if the header were right"
		}},
	)
}

func headerTwice(t *T) {
	all := []wireCase{
		{name: "Mcp-Method twice", alter: func(w *wire) { w.add("Mcp-Method", "prompts/list") }, judge: wantRefused(Suggestion)},
		{name: "MCP-Protocol-Version twice", alter: func(w *wire) { w.add("MCP-Protocol-Version", "2025-11-25") }, judge: wantRefused(Suggestion)},
	}
	if t.r.onLoopback() && !t.hostServed() {
		all = append(all, wireCase{name: "Host twice", alter: func(w *wire) { w.add("Host", "evil.example") }, judge: wantRefused(Suggestion)},
			wireCase{name: "Host twice, the right one behind", alter: func(w *wire) {
				w.headers = append([]rawmcp.Header{{Name: "Host", Value: "evil.example"}}, w.headers...)
			}, judge: wantRefused(Suggestion)},
			wireCase{name: "another host in the request line", alter: func(w *wire) { w.path = "http://evil.example" + w.path }, judge: wantRefused(Suggestion)})
	}
	t.cases(all...)
}

func smuggled(t *T) {
	// The result says which method was carried out.
	judge := func(named string) func(Answer) (Severity, string) {
		return func(a Answer) (Severity, string) {
			if m := members(a.Result); a.Kind == completed && m[named] == nil {
				return Critical, "the header names the list of " + named + " and another is returned"
			}
			return "", ""
		}
	}
	all := t.nameTwice()
	all = append(all,
		wireCase{name: "the header names the first", alter: func(w *wire) { w.replace(`"method":"tools/list"`, `"method":"tools/list","method":"prompts/list"`) }, judge: judge("tools")},
		wireCase{name: "the header names the last", alter: func(w *wire) { w.replace(`"method":"tools/list"`, `"method":"prompts/list","method":"tools/list"`) }, judge: judge("tools")},
		wireCase{name: "METHOD beside method", alter: func(w *wire) { w.replace(`"method":"tools/list"`, `"method":"tools/list","METHOD":"prompts/list"`) }, judge: judge("tools")},
		wireCase{name: "Method in the place of method", alter: func(w *wire) { w.replace(`"method":`, `"Method":`) }, judge: wantRefused(Suggestion)},
	)
	t.cases(all...)
}

// nameTwice names a tool that asks and one that does not exist, which the header names.
func (t *T) nameTwice() []wireCase {
	for _, f := range t.r.flows {
		if f.Method != "tools/call" {
			continue
		}
		right, wrong := `"name":`+string(quote(f.Target)), `"name":`+string(quote(noSuchTool))
		judge := func(a Answer) (Severity, string) {
			if a.Kind == asked || a.Kind == completed {
				return Critical, "the header names a tool that does not exist, and another is called"
			}
			return "", ""
		}
		twice := func(text string) func(*wire) {
			return func(w *wire) {
				w.replace(right, text)
				w.set("Mcp-Name", noSuchTool)
			}
		}
		other := strings.Replace(right, "name", "Name", 1)
		return []wireCase{{name: "the header names the first tool", call: f.call(first), alter: twice(wrong + "," + right), judge: judge},
			{name: "the header names the last tool", call: f.call(first), alter: twice(right + "," + wrong), judge: judge},
			{name: "Name beside name", call: f.call(first), alter: twice(wrong + "," + other), judge: judge},
			{name: "Name before name", call: f.call(first), alter: twice(other + "," + wrong), judge: judge}}
	}
	return nil
}

// anyRequest is an honest request of the newest revision that the server speaks.
func (t *T) anyRequest(alter func(*wire)) wireCase {
	c := wireCase{alter: alter}
	if !t.r.modern() {
		c.alter = func(w *wire) {
			t.initializing(w, t.r.Report.Server.Revisions[0])
			alter(w)
		}
	}
	return c
}

// initializing makes the first request of an older revision of a request.
func (t *T) initializing(w *wire, version string) {
	w.drop("MCP-Protocol-Version")
	w.drop("Mcp-Session-Id")
	w.drop("Mcp-Method")
	w.drop("Mcp-Name")
	w.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"sealab-review","version":"1"}}}`, w.id, version)
}

// initialize returns the first request of an older revision.
func (t *T) initialize(version string) *wire {
	w := t.wire(listCall)
	t.initializing(w, version)
	return w
}

func sessionHeader(t *T) {
	t.cases(wireCase{name: "a made-up session", alter: func(w *wire) { w.set("Mcp-Session-Id", "sealab-made-up") }, judge: func(a Answer) (Severity, string) {
		if a.Exchange != nil && a.Exchange.Header("Mcp-Session-Id") == "sealab-made-up" {
			return Suggestion, "the session is repeated in the response"
		}
		return wantServed(Suggestion)(a)
	}})
}

func lastEventID(t *T) {
	t.cases(wireCase{name: "Last-Event-ID", alter: func(w *wire) { w.set("Last-Event-ID", "1") }, judge: wantServed(Suggestion)})
}

func verbs(t *T) {
	var all []wireCase
	for _, v := range []string{"PUT", "PATCH", "DELETE", "HEAD"} {
		all = append(all, wireCase{name: v, alter: func(w *wire) {
			if w.verb = v; v == "HEAD" || v == "DELETE" {
				w.body = nil
			}
		}, judge: func(a Answer) (Severity, string) {
			switch {
			case a.Status == 405 || a.Status == 501 || a.Status == 401 || a.Status == 403:
				return "", ""
			case v == "DELETE" && (a.Status == 400 || a.Status == 404) && len(t.r.Report.Server.Revisions) > 1: // of no session (older revisions)
				return "", ""
			case strings.HasPrefix(fmt.Sprint(a.Status), "2"):
				return Suggestion, fmt.Sprintf("answered with status %d", a.Status)
			}
			return Suggestion, fmt.Sprintf("status %d instead of 405", a.Status)
		}})
	}
	for _, v := range []string{"GET", "OPTIONS"} {
		all = append(all, wireCase{name: v, alter: func(w *wire) { w.verb, w.body, w.head = v, nil, true }, judge: func(a Answer) (Severity, string) {
			if a.Status > 0 && a.Status < 500 && (a.Status != 200 || v == "OPTIONS" || a.Exchange.Stream) || a.Status == 501 {
				return "", ""
			}
			return Suggestion, fmt.Sprintf("answered with status %d and no stream", a.Status)
		}})
	}
	all = append(all, wireCase{name: "TRACE", alter: func(w *wire) {
		w.verb, w.body = "TRACE", nil
		w.set("X-Sealab", echoProbe)
	}, judge: func(a Answer) (Severity, string) {
		if a.contains(echoProbe) {
			return Warning, "repeats the headers of the request"
		}
		return "", ""
	}})
	t.cases(append(all, t.byGet()...)...)
}

// byGet are honest requests by GET. A server that opens a stream for any of them cannot
// be asked.
func (t *T) byGet() []wireCase {
	w := t.wire(listCall)
	w.verb, w.body, w.head = "GET", nil, true
	if a := t.send(w); a.Exchange == nil || a.Exchange.Stream || a.Exchange.Status == 0 {
		return nil
	}
	judge := func(a Answer) (Severity, string) {
		// An id of the query is a text.
		if served(a) || a.Status == 200 && a.Exchange != nil && bytes.Contains(a.Exchange.Body, []byte(`"result"`)) {
			return Warning, "served"
		}
		return "", ""
	}
	get := func(w *wire) {
		n := len(w.body)
		w.verb, w.length = "GET", &n
	}
	return []wireCase{
		{name: "GET with the request in its body", alter: get, judge: judge},
		{name: "GET with the request in the query", alter: func(w *wire) {
			var m map[string]json.RawMessage
			_ = json.Unmarshal(w.body, &m) // our own
			w.path += "?" + url.Values{"jsonrpc": {"2.0"}, "id": {string(m["id"])}, "method": {listCall.Method}, "params": {string(m["params"])}}.Encode()
			w.verb, w.body = "GET", nil
		}, judge: judge},
		{name: "GET with X-HTTP-Method-Override", alter: func(w *wire) {
			get(w)
			w.set("X-HTTP-Method-Override", "POST")
		}, judge: judge},
	}
}
