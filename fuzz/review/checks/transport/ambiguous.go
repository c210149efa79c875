package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// ambiguousChecks are the checks of requests that can be read in two ways.
var ambiguousChecks = []review.Check{
	{
		ID: "H-TWICE", Name: "a duplicate header", Over: "http", Era: "modern", Severity: review.Suggestion, Category: "transport",
		Sent: "Mcp-Method and MCP-Protocol-Version, each twice with different values; on this machine, if the " +
			"server checks Host, also Host twice, and another host in the request line",
		Want:   "refuses the request",
		Source: "RFC 9110, section 5.3; RFC 9112, section 3.2",
		Impact: "a gateway reads one value and the server the other",
		Fix:    "refuse a request with a duplicate header",
		Run:    checkDuplicateHeaders,
	},
	{
		ID: "H-SMUGGLE", Name: "a duplicate member in the body", Over: "http", Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "method twice, of two lists, of a list and server/discover, and of a list and the call of a tool; the " +
			"name of a tool or a prompt and the uri of a resource twice; also METHOD and Name beside them; the header " +
			"matches the first or the last; Method instead of method",
		Want:   "carries out the method and the target that the headers name, or refuses",
		Source: transportSpec + "; RFC 8259, section 4",
		Impact: "a client calls a method or a tool other than the one that a gateway allowed by its header",
		Fix:    "refuse duplicate members, or compare the header with the member that is carried out",
		Run:    checkDuplicateMembers,
	},
	{
		ID: "H-LENGTH", Name: "a body with two lengths", Over: "http", Era: "modern", Severity: review.Suggestion, Category: "security",
		Sent: "a request with Content-Length and Transfer-Encoding, and one with two Content-Length headers; the " +
			"part of the body beyond the shorter length is itself a request; then an unaltered request over the " +
			"same connection",
		Want:   "refuses the request or uses the longer length; never answers the request inside the body",
		Source: "RFC 9112, sections 6.1 and 6.3; CWE-444",
		Impact: "behind a proxy that shares connections, a client hides a request from the proxy or receives the " +
			"answer to another client",
		Fix: "refuse a request with both headers, or with two values of Content-Length, and close the connection",
		Run: checkTwoLengths,
	},
}

func checkDuplicateHeaders(t *review.T) {
	all := []review.Case{
		{Name: "Mcp-Method twice", Alter: func(w *client.Request) { w.Add("Mcp-Method", "prompts/list") }, Judge: review.WantRefused(review.Suggestion)},
		{Name: "MCP-Protocol-Version twice", Alter: func(w *client.Request) { w.Add("MCP-Protocol-Version", "2025-11-25") }, Judge: review.WantRefused(review.Suggestion)},
	}
	if t.OnLoopback() && !hostServed(t) {
		all = append(all, review.Case{Name: "Host twice", Alter: func(w *client.Request) { w.Add("Host", "evil.example") }, Judge: review.WantRefused(review.Suggestion)},
			review.Case{Name: "Host twice, the right one behind", Alter: func(w *client.Request) {
				w.Headers = append([]rawmcp.Header{{Name: "Host", Value: "evil.example"}}, w.Headers...)
			}, Judge: review.WantRefused(review.Suggestion)},
			review.Case{Name: "another host in the request line", Alter: func(w *client.Request) { w.Path = "http://evil.example" + w.Path }, Judge: review.WantRefused(review.Suggestion)})
	}
	t.Cases(all...)
}

func checkDuplicateMembers(t *review.T) {
	all := duplicateNames(t)
	if method := t.Client.Listing.Method; method != "server/discover" {
		kind, _, _ := strings.Cut(method, "/")
		own, other := memberOf("method", method), memberOf("method", otherList(method))
		all = append(all,
			review.Case{Name: "the header names the first", Alter: client.Replacing(own, own+","+other), Judge: anotherRan(method, kind)},
			review.Case{Name: "the header names the last", Alter: client.Replacing(own, other+","+own), Judge: anotherRan(method, kind)},
			review.Case{Name: "METHOD beside method", Alter: func(w *client.Request) {
				w.Replace(own, own+","+strings.Replace(other, "method", "METHOD", 1))
			}, Judge: anotherRan(method, kind)})
		all = append(all, duplicateMethods(t)...)
	}
	all = append(all,
		review.Case{Name: "Method in the place of method", Alter: client.Replacing(`"method":`, `"Method":`), Judge: review.WantRefused(review.Suggestion)},
	)
	t.Cases(all...)
}

// memberOf returns a member with a text as its value.
func memberOf(name, value string) string { return fmt.Sprintf("%q:%s", name, jsondoc.Quote(value)) }

// anotherRan returns a judge that finds a result without the member that all results of a method have.
func anotherRan(method, member string) review.Judge {
	return review.FaultIf(review.Critical, "the header names "+method+", and another method is carried out", func(a client.Answer) bool {
		return a.Succeeded() && jsondoc.At(a.Result, member) == nil
	})
}

// duplicateMethods returns requests that name the list and another method that the server has:
// server/discover and, if one may be called, a tool. The results show which of the two was carried out.
func duplicateMethods(t *review.T) []review.Case {
	list := t.Client.Listing
	kind, _, _ := strings.Cut(list.Method, "/")
	discovery := client.Call{Method: "server/discover"}
	all := slices.Concat(twoMethods(discovery, list.Method, list.Method, kind), twoMethods(discovery, list.Method, discovery.Method, "supportedVersions"))
	if f, ok := harmlessTool(t); ok {
		call := f.Call(client.FirstUser)
		all = append(all, twoMethods(call, list.Method, list.Method, kind)...)
		for _, c := range twoMethods(call, list.Method, list.Method, kind) {
			alter := c.Alter
			c.Name += ", without Mcp-Name"
			c.Alter = func(w *client.Request) {
				alter(w)
				w.Drop("Mcp-Name")
			}
			all = append(all, c)
		}
	}
	return all
}

// twoMethods returns requests for a call and another method, in both orders. The header names one of
// them, whose results have a member that those of the other one do not have.
func twoMethods(call client.Call, other, named, member string) []review.Case {
	beside := call.Method
	if named == call.Method {
		beside = other
	}
	own := memberOf("method", call.Method)
	first, last := memberOf("method", named), memberOf("method", beside)
	twice := func(place, text string) review.Case {
		return review.Case{Name: fmt.Sprintf("the header names the %s, %s, beside %s", place, named, beside), Call: call, Alter: func(w *client.Request) {
			w.Replace(own, text)
			w.Set("Mcp-Method", named)
		}, Judge: anotherRan(named, member)}
	}
	return []review.Case{twice("first", first+","+last), twice("last", last+","+first)}
}

// harmlessTool returns the call of a tool that asks first or, with effects, of one that reads.
func harmlessTool(t *review.T) (client.Flow, bool) {
	for _, f := range t.Flows {
		if f.Method == "tools/call" {
			return f, true
		}
	}
	if readers := t.Readers(); len(readers) > 0 {
		return t.FlowOf(readers[0]), true
	}
	return client.Flow{}, false
}

// duplicateNames returns calls that name both a target and one that does not exist: a tool, a prompt
// and a resource. The header names the latter.
func duplicateNames(t *review.T) []review.Case {
	var all []review.Case
	if f, ok := harmlessTool(t); ok {
		all = duplicateTargets(f, "tool", "name", client.NoSuchTool)
	}
	seen := map[string]bool{}
	for _, f := range t.Reads() {
		switch {
		case seen[f.Method]:
		case f.Method == "prompts/get":
			all = append(all, duplicateTargets(f, "prompt", "name", client.NoSuchPrompt)...)
		default:
			all = append(all, duplicateTargets(f, "resource", "uri", client.MissingURI)...)
		}
		seen[f.Method] = true
	}
	return all
}

// duplicateTargets returns calls with the member of the target twice.
func duplicateTargets(f client.Flow, kind, member, missing string) []review.Case {
	right, wrong := memberOf(member, f.Target), memberOf(member, missing)
	judge := review.FaultIf(review.Critical, "the header names a "+kind+" that does not exist, and another is used", client.Answer.Succeeded)
	capital := strings.ToUpper(member[:1]) + member[1:]
	other := strings.Replace(right, member, capital, 1)
	twice := func(name, text string) review.Case {
		return review.Case{Name: name, Call: f.Call(client.FirstUser), Alter: func(w *client.Request) {
			w.Replace(right, text)
			w.Set("Mcp-Name", missing)
		}, Judge: judge}
	}
	return []review.Case{
		twice("the header names the first "+kind, wrong+","+right),
		twice("the header names the last "+kind, right+","+wrong),
		twice(capital+" beside "+member+" of a "+kind, wrong+","+other),
		twice(capital+" before "+member+" of a "+kind, other+","+wrong),
	}
}

// A doubleFraming gives the body of a request two lengths. A server that uses the shorter one takes
// the rest, which is a complete request, for the next request of the connection.
type doubleFraming struct {
	name  string
	frame func(w *client.Request, rest []byte)
}

var doubleFramings = []doubleFraming{
	{"Content-Length beside chunks", func(w *client.Request, rest []byte) {
		size := fmt.Sprintf("%x\r\n", len(rest))
		w.Add("Transfer-Encoding", "chunked")
		w.Body = fmt.Appendf(nil, "%s%s\r\n0\r\n\r\n", size, rest)
		w.Length = new(len(size))
	}},
	{"Content-Length twice", func(w *client.Request, rest []byte) {
		w.Add("Content-Length", "0")
		w.Body = rest
	}},
}

// checkTwoLengths records a finding if the server answers the rest of a body, twice.
func checkTwoLengths(t *review.T) {
	if t.SkipFor(t.Control()) {
		return
	}
	for _, f := range doubleFramings {
		if !t.Selected(f.name) {
			continue
		}
		if evidence, is := answersRest(t, f); is {
			if _, again := answersRest(t, f); again {
				t.Refute(review.Finding{Case: f.name, Severity: review.Suggestion, Issue: f.name + ": a part of the body is answered as a request of its own",
					Evidence: evidence, Want: "one answer", Got: "two answers"})
			}
		}
	}
}

// answersRest sends a request with two lengths, and an honest one over the same connection. It
// reports whether the request in the body of the first is answered as well.
func answersRest(t *review.T, f doubleFraming) (evidence string, is bool) {
	c := t.Client
	conn, err := c.HTTP.Dial(t.Context)
	if t.SkipOn(err) {
		return "", false
	}
	defer conn.Close()
	send := func(w *client.Request) *rawmcp.Exchange {
		e := c.HTTP.DoOver(t.Context, conn, w.Raw())
		c.Keep(e)
		return e
	}
	rest, outer, next := openRequest(t), openRequest(t), openRequest(t)
	f.frame(outer, rest.Raw().Text())
	one, two := send(outer), send(next)
	t.Trials++
	// The answer to the rest may have arrived with the first one.
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(one.Received), bytes.NewReader(two.Received)))
	for {
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return "", false
		}
		body, _ := io.ReadAll(response.Body) // a partial body is not an answer
		if hasResult(body, rest.ID) {
			return fmt.Sprintf("%s -> status %d; then, on this connection, the answer %s", client.Short(string(one.Sent), 700), one.Status, client.Short(string(body), 100)), true
		}
	}
}

// hasResult reports whether a body, or an event in it, is the result of a request.
func hasResult(body []byte, id int) bool {
	for line := range bytes.Lines(body) {
		message := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if client.IsAnswer(id)(message) && jsondoc.Members(message)["result"] != nil {
			return true
		}
	}
	return false
}

// openRequest returns an honest request that leaves its connection open.
func openRequest(t *review.T) *client.Request {
	w := t.Request(t.Client.Listing)
	w.Drop("Connection")
	return w
}
