package review_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// A probe is one request of the transport matrix: the headers and body of a good
// call of echo, changed.
type probe struct {
	verb    string
	headers []rawmcp.Header
	body    string
}

func (p *probe) set(name, value string) {
	p.drop(name)
	p.headers = append(p.headers, rawmcp.Header{Name: name, Value: value})
}

func (p *probe) drop(name string) {
	p.headers = slices.DeleteFunc(p.headers, func(h rawmcp.Header) bool { return strings.EqualFold(h.Name, name) })
}

func (p *probe) replace(old, new string) { p.body = strings.Replace(p.body, old, new, 1) }

const (
	probeMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"probe","version":"0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}}`
	probeCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"},` + probeMeta + `}}`
)

// method makes another call of a probe.
func methodOf(name, target, params string) func(*probe) {
	return func(p *probe) {
		p.set("Mcp-Method", name)
		if p.drop("Mcp-Name"); target != "" {
			p.set("Mcp-Name", target)
		}
		p.body = `{"jsonrpc":"2.0","id":7,"method":"` + name + `","params":{` + params + probeMeta + `}}`
	}
}

func bodyOf(text string) func(*probe)          { return func(p *probe) { p.body = text } }
func headerOf(name, value string) func(*probe) { return func(p *probe) { p.set(name, value) } }
func without(name string) func(*probe)         { return func(p *probe) { p.drop(name) } }
func replaced(old, new string) func(*probe)    { return func(p *probe) { p.replace(old, new) } }
func twice(name, value string) func(*probe) {
	return func(p *probe) { p.headers = append(p.headers, rawmcp.Header{Name: name, Value: value}) }
}
func toolOf(name, arguments string) func(*probe) {
	return methodOf("tools/call", name, `"name":"`+name+`",`+arguments)
}
func resourceOf(uri string) func(*probe) { return methodOf("resources/read", uri, `"uri":"`+uri+`",`) }
func verbOf(name string) func(*probe)    { return func(p *probe) { p.verb, p.body = name, "" } }

// probes are the requests of the matrix by the names of its rows.
var probes = map[string]func(*probe){
	"control: good call":                          func(*probe) {},
	"version: 1900-01-01 both":                    func(p *probe) { p.set("MCP-Protocol-Version", "1900-01-01"); p.replace("2026-07-28", "1900-01-01") },
	"version: garbage both":                       func(p *probe) { p.set("MCP-Protocol-Version", "banana"); p.replace("2026-07-28", "banana") },
	"version: 2026-07-28 header, 2025-11-25 body": replaced("2026-07-28", "2025-11-25"),
	"version: 2025-11-25 header, 2026-07-28 body": headerOf("MCP-Protocol-Version", "2025-11-25"),
	"version: no header, modern body":             without("MCP-Protocol-Version"),
	"version: header twice":                       twice("MCP-Protocol-Version", "2025-11-25"),
	"meta: none, modern header":                   replaced(","+probeMeta, ""),
	"meta: without protocolVersion":               replaced("io.modelcontextprotocol/protocolVersion", "x/none"),
	"meta: without clientCapabilities":            replaced("io.modelcontextprotocol/clientCapabilities", "x/none"),
	"meta: without clientInfo":                    replaced("io.modelcontextprotocol/clientInfo", "x/none"),
	"meta: capabilities a string":                 replaced(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`, `"all"`),
	"header: no Mcp-Method":                       without("Mcp-Method"),
	"header: Mcp-Method tools/list":               headerOf("Mcp-Method", "tools/list"),
	"header: Mcp-Method TOOLS/CALL":               headerOf("Mcp-Method", "TOOLS/CALL"),
	"header: no Mcp-Name":                         without("Mcp-Name"),
	"header: Mcp-Name other":                      headerOf("Mcp-Name", "other"),
	"header: Mcp-Name of another tool":            headerOf("Mcp-Name", "remove"),
	"header: Mcp-Name base64 form, right":         headerOf("Mcp-Name", "=?base64?ZWNobw==?="),
	"header: Mcp-Name base64 form, other":         headerOf("Mcp-Name", "=?base64?cmVtb3Zl?="),
	"header: Mcp-Name base64 form, broken":        headerOf("Mcp-Name", "=?base64?%%%?="),
	"header: Mcp-Name twice, right then other":    twice("Mcp-Name", "other"),
	"header: Mcp-Name twice, other then right":    func(p *probe) { p.set("Mcp-Name", "other"); twice("Mcp-Name", "echo")(p) },
	"rpc: unknown method":                         methodOf("sealab/none", "", ""),
	"rpc: ping (removed)":                         methodOf("ping", "", ""),
	"rpc: logging/setLevel (removed)":             methodOf("logging/setLevel", "", `"level":"info",`),
	"rpc: resources/subscribe (removed)":          methodOf("resources/subscribe", "", ""),
	"rpc: tasks/list (removed)":                   methodOf("tasks/list", "", ""),
	"rpc: batch of two":                           bodyOf("[" + probeCall + "," + probeCall + "]"),
	"rpc: empty batch":                            bodyOf("[]"),
	"rpc: not JSON":                               bodyOf("{"),
	"rpc: empty body":                             bodyOf(""),
	"rpc: number":                                 bodyOf("1"),
	"rpc: null":                                   bodyOf("null"),
	"rpc: id null":                                replaced(`"id":7`, `"id":null`),
	"rpc: id 1.5":                                 replaced(`"id":7`, `"id":1.5`),
	"rpc: id object":                              replaced(`"id":7`, `"id":{"a":1}`),
	"rpc: id text":                                replaced(`"id":7`, `"id":"seven"`),
	"rpc: id empty text":                          replaced(`"id":7`, `"id":""`),
	"rpc: no jsonrpc":                             replaced(`"jsonrpc":"2.0",`, ""),
	"rpc: jsonrpc 1.0":                            replaced(`"2.0"`, `"1.0"`),
	"rpc: extra member":                           replaced(`"id":7`, `"id":7,"extra":1`),
	"type: text/plain":                            headerOf("Content-Type", "text/plain"),
	"type: application/x-www-form-urlencoded":     headerOf("Content-Type", "application/x-www-form-urlencoded"),
	"type: none":                                  without("Content-Type"),
	"type: application/json; charset=utf-8":       headerOf("Content-Type", "application/json; charset=utf-8"),
	"type: application/jsonx":                     headerOf("Content-Type", "application/jsonx"),
	"type: APPLICATION/JSON":                      headerOf("Content-Type", "APPLICATION/JSON"),
	"accept: application/json":                    headerOf("Accept", "application/json"),
	"accept: text/event-stream":                   headerOf("Accept", "text/event-stream"),
	"accept: */*":                                 headerOf("Accept", "*/*"),
	"accept: none":                                without("Accept"),
	"accept: text/html":                           headerOf("Accept", "text/html"),
	"verb: GET":                                   verbOf("GET"),
	"verb: DELETE":                                verbOf("DELETE"),
	"verb: PUT":                                   func(p *probe) { p.verb = "PUT" },
	"verb: OPTIONS":                               verbOf("OPTIONS"),
	"verb: HEAD":                                  verbOf("HEAD"),
	"verb: PATCH":                                 func(p *probe) { p.verb = "PATCH" },
	"origin: evil":                                headerOf("Origin", "http://evil.example"),
	"origin: null":                                headerOf("Origin", "null"),
	"origin: evil with port":                      headerOf("Origin", "http://evil.example:8080"),
	"origin: localhost.evil":                      headerOf("Origin", "http://localhost.evil.example"),
	"origin: garbage":                             headerOf("Origin", "garbage"),
	"host: evil":                                  headerOf("Host", "evil.example"),
	"host: evil with port":                        headerOf("Host", "evil.example:8080"),
	"host: localhost":                             headerOf("Host", "localhost"),
	"host: [::1]":                                 headerOf("Host", "[::1]"),
	"host: trailing dot":                          headerOf("Host", "localhost."),
	"host: 0.0.0.0":                               headerOf("Host", "0.0.0.0"),
	"host: localhost.evil.example":                headerOf("Host", "localhost.evil.example"),
	"session: made-up id with a modern request":   headerOf("Mcp-Session-Id", "made-up"),
	"session: Last-Event-ID":                      headerOf("Last-Event-ID", "1"),
	"list: bad cursor":                            methodOf("tools/list", "", `"cursor":"none",`),
	"list: cursor a number":                       methodOf("tools/list", "", `"cursor":5,`),
	"tool: unknown":                               toolOf("nosuch", `"arguments":{},`),
	"tool: wrong type":                            toolOf("echo", `"arguments":{"text":[5]},`),
	"tool: required missing":                      toolOf("echo", `"arguments":{},`),
	"tool: no arguments member":                   toolOf("echo", ""),
	"tool: extra key":                             toolOf("echo", `"arguments":{"text":"hi","extra":1},`),
	"tool: arguments an array":                    toolOf("echo", `"arguments":["hi"],`),
	"tool: arguments a string":                    toolOf("echo", `"arguments":"hi",`),
	"tool: __proto__ argument":                    toolOf("echo", `"arguments":{"text":"hi","__proto__":{"a":1}},`),
	"resource: test://nosuch":                     resourceOf("test://nosuch"),
	"resource: file:///etc/passwd":                resourceOf("file:///etc/passwd"),
	"resource: test://../../etc/passwd":           resourceOf("test://../../etc/passwd"),
	"resource: not a uri":                         resourceOf("not a uri"),
	"prompt: unknown":                             methodOf("prompts/get", "nosuch", `"name":"nosuch",`),
	"listen: no filter":                           methodOf("subscriptions/listen", "", ""),
	"size: 5 MiB of argument":                     toolOf("echo", `"arguments":{"text":"`+strings.Repeat("a", 5<<20)+`"},`),
}

// columns are the servers of the matrix that are fixtures here.
var columns = map[string]string{"ts-codec": "ts", "rmcp": "rmcp", "go-plain": "go", "fastmcp": "fastmcp"}

// cell is the class of an answer in the words of the matrix, "" if the matrix has
// free text there.
func cellOf(e *rawmcp.Exchange) string {
	for _, raw := range slices.Backward(e.Messages) {
		var r struct {
			Result *struct{ IsError bool }
			Error  *struct{ Code int }
		}
		switch err := json.Unmarshal(raw, &r); {
		case err == nil && r.Error != nil:
			return fmt.Sprintf("%d %d", e.Status, r.Error.Code)
		case err == nil && r.Result != nil && r.Result.IsError:
			return fmt.Sprintf("%d isE", e.Status)
		case err == nil && r.Result != nil:
			return fmt.Sprintf("%d ok", e.Status)
		}
	}
	return fmt.Sprint(e.Status)
}

var classed = regexp.MustCompile(`^\d{3} (ok|isE|-\d{5})`)

// expected is the class of a cell of the matrix: free text counts by its status.
func expected(text string) string {
	if found := classed.FindString(text); found != "" {
		return found
	}
	status, _, _ := strings.Cut(text, " ")
	return status
}

// TestTransportMatrix asks the installed servers the questions of the matrix. A row
// without a request here is counted and printed.
func TestTransportMatrix(t *testing.T) {
	if testing.Short() {
		testenv.Skip(t, "-short: each server takes seconds")
	}
	data, err := os.ReadFile("testdata/matrices/transport.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	head, rows := lines[0], lines[1:]
	for column, name := range columns {
		t.Run(column, func(t *testing.T) {
			at := strings.Index(head, column)
			require.Positive(t, at)
			i := slices.IndexFunc(foreigners, func(f foreign) bool { return f.name == name })
			url := foreigners[i].start(t)
			c, err := rawmcp.NewHTTP(url, rawmcp.Limits{})
			require.NoError(t, err)
			same, unasked := 0, 0
			for _, line := range rows {
				name := strings.TrimSpace(line[:at0(head)])
				alter := probes[name]
				text := strings.TrimSpace(line[at:min(len(line), at+14)])
				if alter == nil || text == "" {
					unasked++
					continue
				}
				p := &probe{verb: "POST", body: probeCall, headers: []rawmcp.Header{{Name: "Host", Value: c.Host()}, {Name: "Connection", Value: "close"},
					{Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: "application/json, text/event-stream"},
					{Name: "MCP-Protocol-Version", Value: "2026-07-28"}, {Name: "Mcp-Method", Value: "tools/call"}, {Name: "Mcp-Name", Value: "echo"}}}
				alter(p)
				e := c.Do(context.Background(), rawmcp.Request{Verb: p.verb, Path: "/mcp", Headers: p.headers, Body: []byte(p.body)})
				want, got := expected(text), cellOf(e)
				if len(want) == 3 {
					got, _, _ = strings.Cut(got, " ")
				}
				if want != got {
					t.Errorf("%s: got %s, want %s", name, got, want)
				}
				same++
			}
			t.Logf("%d rows asked, %d not", same, unasked)
			require.Greater(t, same, 70)
		})
	}
}

// at0 is where the cells of the matrix begin.
func at0(head string) int { return strings.Index(head, "ts-codec") }
