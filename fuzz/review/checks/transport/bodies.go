package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// bodyChecks are the checks of JSON-RPC over HTTP in revision 2026-07-28.
var bodyChecks = []review.Check{
	{
		ID: "H-UNKNOWN", Name: "an unknown method", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "the method sealab/none; over HTTP also a method that contains an HTML tag, and methods of older " +
			"revisions: ping, logging/setLevel, resources/subscribe and tasks/list",
		Want:   "answers error -32601, over HTTP with status 404; repeats no tag in an HTML page",
		Source: transportSpec,
		Impact: "a client takes the method for supported; or a web page runs a script from the request",
		Fix:    "answer -32601 with status 404 in JSON",
		Run:    checkUnknownMethods,
	},
	{
		ID: "H-BATCH", Name: "several requests in one body", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent:   "an array of one request, of two requests, of two notifications, and an empty array",
		Want:   "refuses the array",
		Source: transportSpec,
		Impact: "the headers that a gateway checks describe only one of the requests",
		Fix:    "refuse arrays",
		Run:    checkBatches,
	},
	{
		ID: "H-JSON", Name: "a body that is not one JSON-RPC request", Over: "http", Era: "modern", Severity: review.Warning, Category: "reliability",
		Sent: "half a JSON object, an empty body, a number, null, invalid UTF-8, 10,000 nested arrays, and a " +
			"request followed by a word or by a second request",
		Want:   "answers a JSON-RPC error, such as -32700 or -32600, and continues to answer",
		Source: "JSON-RPC 2.0, section 5.1",
		Impact: "one request stops the server, or a client cannot read the error",
		Fix:    "answer every malformed body with a JSON-RPC error",
		Run:    checkMalformedBodies,
	},
	{
		ID: "H-PARAMS", Name: "params of another JSON type", Era: "modern", Severity: review.Warning, Category: "schema",
		Sent: "params as an array of numbers and as an object inside an array; over HTTP also params null, " +
			"arguments null, arguments as a string, a call without name, and a name that is a number",
		Want:   "answers error -32602 or -32600; never answers with an internal error",
		Source: "revision 2026-07-28, schema",
		Impact: "a malformed request is carried out, or is answered by an error that names another cause",
		Fix:    "validate params before the handler",
		Run:    checkParamTypes,
	},
	{
		ID: "H-ID", Name: "an unusual or invalid request id", Over: "http", Era: "modern", Severity: review.Suggestion, Category: "schema",
		Sent: "tools/list with the ids null, 1.5 and an object; tools/list, a call of an unknown tool and an unknown " +
			"method with strings of digits, of numbers with a sign, an exponent and leading zeros, of names of values, of 127 " +
			"characters, with escapes, and with non-ASCII characters, with the empty string, and with the numbers " +
			"0, -7, 4294967301 and 2^53-1; a string whose last character is split between two chunks of the body",
		Want:   "refuses null, 1.5 and the object; answers the others with the same id",
		Source: "revision 2026-07-28, basic",
		Impact: "the server takes a request for a notification, or the client cannot match the answer",
		Fix:    "accept only strings and integers as ids, and repeat them unchanged",
		Run:    checkRequestIDs,
	},
	{
		ID: "H-202", Name: "the answer to a notification", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "notifications/cancelled for an unknown request; tools/list, a call of an unknown tool and a call " +
			"that asks, each without an id",
		Want:   "answers status 202 without a body, or an error status",
		Source: transportSpec,
		Impact: "the client waits for an answer that does not come, or receives one that it cannot match",
		Fix:    "answer notifications with status 202 and no body",
		Run:    checkNotification,
	},
	{
		ID: "A-401", Name: "requests without credentials", Over: "http", Severity: review.Warning, Category: "security",
		Sent: "tools/list without credentials and, if --second is given, with made-up ones; a made-up credential, " +
			"which is searched for in the refusal; without --header the check sends nothing and judges whether a " +
			"server beyond this machine, with a risk profile above R0, lists its tools without credentials",
		Want:   "answers status 401 with WWW-Authenticate, and does not repeat the credential",
		Source: "revision 2026-07-28, basic/authorization; RFC 9110, section 15.5.2; CWE-209, CWE-532",
		Impact: "anybody who reaches the server uses its tools; or credentials remain in error logs",
		Fix:    "require credentials on every request, and refuse with a fixed text",
		Run:    checkUnauthenticated,
	},
}

func checkUnknownMethods(t *review.T) {
	if t.Client.HTTP == nil {
		callUnknownMethod(t)
		return
	}
	var all []review.Case
	for _, m := range []string{"sealab/none", "ping", "logging/setLevel", "resources/subscribe", "tasks/list"} {
		all = append(all, review.Case{Name: m, Call: client.Call{Method: m}, Alter: func(*client.Request) {}, Judge: func(a client.Answer) (review.Severity, string) {
			severity, issue := review.WantCode(review.Warning, review.Warning, -32601)(a)
			if issue == "" && a.Status != 404 {
				return review.Suggestion, fmt.Sprintf("refused with status %d instead of 404", a.Status)
			}
			return severity, issue
		}})
	}
	all = append(all, review.Case{Name: "a tag of HTML", Call: client.Call{Method: "sealab/<sealab>"}, Alter: func(*client.Request) {}, Judge: review.FaultIf(review.Warning, "a page repeats the method as HTML", func(a client.Answer) bool {
		return a.Exchange != nil && isPage(a.Exchange, "<sealab>")
	})})
	t.Cases(all...)
}

// callUnknownMethod calls an unknown method over standard streams. It accepts any error code.
func callUnknownMethod(t *review.T) {
	p := t.ProcessWithin(answerWait)
	if p == nil {
		return
	}
	defer p.Stop(client.StopGrace)
	const name = "sealab/none"
	a := sendLine(t, p, func(body []byte) []byte {
		return bytes.Replace(body, []byte(`"`+t.Client.Listing.Method+`"`), []byte(`"`+name+`"`), 1)
	})
	if _, issue := review.WantCode(review.Warning, review.Warning, -32601)(a); (client.Served(a) || a.Kind == client.Broken) && client.Served(sendLine(t, p, bytes.Clone)) {
		t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: name + ": " + issue,
			Evidence: fmt.Sprintf("%s; then tools/list: served", review.ExchangeText(a)), Want: "-32601", Got: string(a.Kind)})
	}
}

func checkBatches(t *review.T) {
	judge := review.FaultIf(review.Warning, "served", func(a client.Answer) bool {
		return a.Status == 200 && a.Contains(`"result"`)
	})
	t.Cases(
		review.Case{Name: "two requests", Alter: func(w *client.Request) { w.Body = fmt.Appendf(nil, "[%s,%s]", w.Body, w.Body) }, Judge: judge},
		review.Case{Name: "one request in an array", Alter: func(w *client.Request) { w.Body = fmt.Appendf(nil, "[%s]", w.Body) }, Judge: judge},
		review.Case{Name: "an empty array", Alter: func(w *client.Request) { w.Body = []byte("[]") }, Judge: review.FaultIf(review.Suggestion, "accepted", func(a client.Answer) bool {
			return a.Status/100 == 2
		})},
		review.Case{Name: "two notifications", Alter: func(w *client.Request) {
			w.Set("Mcp-Method", "notifications/cancelled")
			w.Body = fmt.Appendf(nil, "[%s,%s]", unknownCancellation, unknownCancellation)
		}, Judge: review.FaultIf(review.Suggestion, "accepted", func(a client.Answer) bool {
			return a.Status/100 == 2 && a.Kind != client.Failed
		})},
	)
}

func checkMalformedBodies(t *review.T) {
	judge := func(a client.Answer) (review.Severity, string) {
		switch {
		case a.Kind == client.Failed:
			return "", ""
		case a.Status >= 500 || a.Status == 0:
			return review.Warning, fmt.Sprintf("no refusal: status %d", a.Status)
		case client.Served(a):
			return review.Suggestion, "served"
		}
		return review.Suggestion, "the refusal is not a JSON-RPC error"
	}
	var all []review.Case
	for name, body := range map[string]string{"no JSON": "{", "an empty body": "", "a number": "1", "null": "null", "10,000 nested arrays": strings.Repeat("[", 10000)} {
		all = append(all, review.Case{Name: name, Alter: func(w *client.Request) { w.Body = []byte(body) }, Judge: judge})
	}
	all = append(all, review.Case{Name: "two requests one after the other", Alter: func(w *client.Request) { w.Body = fmt.Appendf(nil, "%s\n%s", w.Body, w.Body) }, Judge: judge},
		review.Case{Name: "a request with a word behind it", Alter: func(w *client.Request) { w.Body = append(w.Body, " sealab"...) }, Judge: judge})
	all = append(all, review.Case{Name: "invalid UTF-8", Alter: client.Replacing(`"sealab-review"`, "\"\xff\xfe\""), Judge: judge})
	slices.SortFunc(all, func(a, b review.Case) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range all {
		if !t.Selected(c.Name) {
			continue
		}
		if t.SkipFor(t.Control()) {
			return
		}
		t.RunCase(c)
		if reason := t.Unanswered(); reason != "" && t.Unanswered() != "" {
			t.Findings = nil
			t.Refute(review.Finding{Case: c.Name, Severity: review.Warning, Issue: "the server does not answer after " + c.Name, Evidence: reason, Want: "answered", Got: "broken"})
			return
		}
	}
}

// arrayParams are params in arrays: positional ones as in JSON-RPC, and the right ones in an array.
var arrayParams = map[string]func(params string) string{
	"params an array":    func(string) string { return "[1]" },
	"params in an array": func(params string) string { return "[" + params + "]" },
}

// withParams returns a request with its params replaced.
func withParams(body []byte, params func(string) string) []byte {
	return jsondoc.WithMember(body, "params", json.RawMessage(params(string(jsondoc.Members(body)["params"]))))
}

// sendArrayParams sends params in arrays to separate processes. A missing answer is allowed,
// because some servers drop invalid messages.
func sendArrayParams(t *review.T) {
	for _, name := range jsondoc.SortedKeys(arrayParams) {
		if !t.Selected(name) {
			continue
		}
		p := t.ProcessWithin(answerWait)
		if p == nil {
			return
		}
		a := sendLine(t, p, func(body []byte) []byte { return withParams(body, arrayParams[name]) })
		if client.Served(a) {
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: name + ": served", Evidence: review.ExchangeText(a), Want: "-32602 or -32600", Got: "served"})
		}
		if a.Kind == client.Broken && t.Pings(p) != "" && endsInTime(t, p) {
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: name + ": the process ends",
				Evidence: fmt.Sprintf("%s -> %v; standard error: %s", review.SentText(a.Exchange), p.State(), client.Short(string(p.Stderr()), 200)),
				Want:     "-32602 or -32600", Got: "ended"})
		}
		p.Stop(client.StopGrace)
	}
}

func checkParamTypes(t *review.T) {
	if t.Client.HTTP == nil {
		sendArrayParams(t)
		return
	}
	want := review.WantCode(review.Suggestion, review.Suggestion, -32602, -32600)
	crash := func(a client.Answer) (review.Severity, string) {
		if a.Kind == client.Broken {
			return review.Warning, fmt.Sprintf("no answer, status %d", a.Status)
		}
		return "", ""
	}
	t.Cases(
		review.Case{Name: "params null", Alter: func(w *client.Request) {
			w.Body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":null}`, w.ID, t.Client.Listing.Method)
		}, Judge: crash},
		review.Case{Name: "arguments null", Call: client.UnknownCall, Alter: client.Replacing(`"arguments":{}`, `"arguments":null`), Judge: crash},
		review.Case{Name: "params an array", Alter: func(w *client.Request) { w.Body = withParams(w.Body, arrayParams["params an array"]) },
			Judge: review.WantCode(review.Warning, review.Suggestion, -32602, -32600)},
		review.Case{Name: "params in an array", Alter: func(w *client.Request) { w.Body = withParams(w.Body, arrayParams["params in an array"]) }, Judge: review.WantRefused(review.Warning)},
		review.Case{Name: "arguments a text", Call: client.UnknownCall, Alter: client.Replacing(`"arguments":{}`, `"arguments":"a"`),
			Judge: func(a client.Answer) (review.Severity, string) {
				if a.Kind == client.ToolError {
					return "", "" // the tool is unknown anyway
				}
				return want(a)
			}},
		review.Case{Name: "no name", Call: client.UnknownCall, Alter: func(w *client.Request) {
			w.Replace(`"name":"`+client.NoSuchTool+`",`, "")
			w.Drop("Mcp-Name")
		}, Judge: review.NoFault},
		review.Case{Name: "a name that is a number", Call: client.UnknownCall, Alter: client.Replacing(`"name":"`+client.NoSuchTool+`"`, `"name":5`), Judge: want},
	)
}

// honestIDs are IDs that an answer must repeat.
var honestIDs = []string{"0", `"sealab"`, `"sealab-éü€"`, brokenLineID, `"4711"`, `"SeaLab-` + strings.Repeat("0123456789", 12) + `"`, "4294967301",
	"-7", "9007199254740991", `"0047"`, `"-5"`, `"1e3"`, `"1.50"`, `"null"`, `""`, `"sealab\t\\\"\u0001"`}

// brokenLineID is an ID that ends the line of an event if it is written unescaped.
const brokenLineID = `"sealab\ndata: 1"`

func checkRequestIDs(t *review.T) {
	var all []review.Case
	for _, id := range []string{"null", "1.5", `{"a":1}`} {
		all = append(all, review.Case{Name: "id " + id, Alter: func(w *client.Request) { w.Replace(fmt.Sprintf(`"id":%d`, w.ID), `"id":`+id) }, Judge: func(a client.Answer) (review.Severity, string) {
			if a.Status/100 == 2 && a.Kind != client.Failed {
				return review.Suggestion, fmt.Sprintf("accepted with status %d", a.Status)
			}
			return "", ""
		}})
	}
	var ordinary [][]byte
	for _, c := range refusedCalls {
		ordinary = append(ordinary, t.Send(t.Request(c.call)).LastMessage())
	}
	for _, id := range honestIDs {
		alter := func(w *client.Request) { w.Replace(fmt.Sprintf(`"id":%d`, w.ID), `"id":`+id) }
		all = append(all, review.Case{Name: "id " + id, Alter: alter, Judge: wantID(id, nil)})
		for i, c := range refusedCalls {
			all = append(all, review.Case{Name: "id " + id + " of " + c.name, Call: c.call, Alter: alter, Judge: wantID(id, ordinary[i])})
		}
	}
	t.Cases(append(all, review.Case{Name: "an id in two chunks", Alter: splitID, Judge: wantID(splitCharacterID, nil)})...)
}

// wantID returns a judge that accepts refusals of the ID, and responses with the given ID. An error
// may have none unless the ordinary one to the same call has an ID.
func wantID(id string, ordinary []byte) review.Judge {
	return func(a client.Answer) (review.Severity, string) {
		last := a.LastMessage()
		if last == nil {
			if a.Status == 202 {
				return review.Warning, "taken for a notification"
			}
			return "", ""
		}
		if id == brokenLineID && a.Exchange.Stream && !slices.ContainsFunc(a.Exchange.Messages, json.Valid) {
			return review.Warning, "the answer is no event: the id stands in its lines"
		}
		if a.Status == 200 && !a.Exchange.Stream && !json.Valid(last) {
			return review.Warning, "the answer is no JSON: it ends with " + client.Short(string(last[max(0, len(last)-20):]), 40)
		}
		if got := otherID(last, id); got != "" {
			return review.Warning, "answered with the id " + client.Short(got, 40)
		}
		if losesID(last, ordinary) {
			return review.Warning, "answered by an error without an id, which errors to other ids have"
		}
		return "", ""
	}
}

// refusedCalls are calls that servers answer by errors.
var refusedCalls = []struct {
	name string
	call client.Call
}{{"an unknown tool", client.UnknownCall}, {"an unknown method", client.Call{Method: "sealab/none"}}}

// refusedIDs are the codes of errors about the form of a message, which may have another ID.
var refusedIDs = []string{"-32700", "-32600"}

// otherID returns the ID of a response that has another one than its request, or "". An error may
// have none.
func otherID(response []byte, id string) string {
	m := jsondoc.Members(response)
	got := string(m["id"])
	refused := m["error"] != nil && (got == "null" || slices.Contains(refusedIDs, string(jsondoc.Members(m["error"])["code"])))
	if m["result"] == nil && m["error"] == nil || refused || jsondoc.SameText(got, id) {
		return ""
	}
	return got
}

// losesID reports whether a response is an error without an ID, and the ordinary one is the same
// error with an ID.
func losesID(response, ordinary []byte) bool {
	hasID := func(message []byte) bool {
		id := string(jsondoc.Members(message)["id"])
		return id != "" && id != "null"
	}
	code := func(message []byte) string { return string(jsondoc.At(message, "error", "code")) }
	return code(response) != "" && code(response) == code(ordinary) && !hasID(response) && hasID(ordinary)
}

// splitCharacterID is an ID whose last character is split between two parts of a request. A server
// that decodes each part separately loses the character.
const splitCharacterID = "\"sealab-\u00e9\""

// splitID sends an ID in two chunks.
func splitID(w *client.Request) {
	none := -1
	w.Replace(fmt.Sprintf(`"id":%d`, w.ID), `"id":`+splitCharacterID)
	at := bytes.Index(w.Body, []byte(splitCharacterID)) + len(splitCharacterID) - 2
	w.Add("Transfer-Encoding", "chunked")
	w.Body = fmt.Appendf(nil, "%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", at, w.Body[:at], len(w.Body)-at, w.Body[at:])
	w.Length = &none
}

// unknownCancellation cancels a request that was not sent.
const unknownCancellation = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sealab-none","_meta":{"` + client.MetaVersion + `":"` + client.Modern + `"}}}`

// withoutID turns a request into a notification.
func withoutID(w *client.Request) { w.Replace(fmt.Sprintf(`"id":%d,`, w.ID), "") }

func checkNotification(t *review.T) {
	silent := func(a client.Answer) (review.Severity, string) {
		switch {
		case a.Status >= 400:
			return "", ""
		case a.Status != 202:
			return review.Warning, fmt.Sprintf("status %d instead of 202", a.Status)
		case a.Exchange != nil && len(strings.TrimSpace(string(a.Exchange.Body))) > 0:
			return review.Warning, "status 202 with a body"
		}
		return "", ""
	}
	t.Cases(review.Case{Name: "notifications/cancelled", Alter: func(w *client.Request) {
		w.Set("Mcp-Method", "notifications/cancelled")
		w.Body = []byte(unknownCancellation)
	}, Judge: silent}, review.Case{Name: "a call of an unknown tool without an id", Call: client.UnknownCall, Alter: withoutID, Judge: silent})
	if len(t.Oracles) > 0 {
		t.Cases(review.Case{Name: "a call that asks, without an id", Call: t.Oracles[0].Flow.Call(client.FirstUser), Alter: withoutID, Judge: silent})
	}
	t.Cases(review.Case{Name: "a list without an id", Alter: withoutID, Judge: review.FaultIf(review.Warning, "answered by a result", func(a client.Answer) bool {
		return a.Contains(`"result"`)
	})})
}

func checkUnauthenticated(t *review.T) {
	if len(t.Options.Target.Headers) == 0 {
		if t.OnLoopback() {
			t.Skip("no credentials are known, and the server is on this machine; its risk profile is %s", t.Report.Server.Risk)
			return
		}
		t.Trials++
		if t.Report.Server.Risk != "R0" && len(t.Report.Server.Tools) > 0 {
			t.Refute(review.Finding{Case: "no credentials", Severity: review.Warning,
				Issue:    "a server of risk profile " + t.Report.Server.Risk + " beyond this machine answers without credentials",
				Evidence: "tools/list was answered", Want: "401", Got: "served"})
		}
		return
	}
	for name, as := range jsondoc.InOrder(map[string]client.User{"no credentials": client.Nobody, "made-up credentials": client.Stranger}) {
		if as == client.Stranger && len(t.Options.Target.Second) == 0 {
			continue
		}
		a := t.Call(t.Client.Listing.By(as))
		if redirected := a.Status >= 300 && a.Status < 400; !a.Conclusive() && !redirected {
			t.Skip("%v", a)
			return
		}
		t.Trials++
		switch {
		case client.Served(a):
			t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: name + ": served", Evidence: a.String(), Want: "401", Got: "served"})
		case a.Kind == client.Failed && a.Status/100 == 2:
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: fmt.Sprintf("%s: refused with status %d instead of 401", name, a.Status),
				Evidence: a.String(), Want: "401", Got: fmt.Sprint(a.Status)})
		case a.Status >= 300 && a.Status < 400:
			t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: fmt.Sprintf("%s: status %d instead of 401", name, a.Status), Evidence: a.String(), Want: "401", Got: fmt.Sprint(a.Status)})
		case a.Status == 401 && a.Exchange.Header("Www-Authenticate") == "":
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: name + ": 401 without WWW-Authenticate", Evidence: a.String(), Want: "WWW-Authenticate", Got: "none"})
		}
	}
	sendUnknownCredential(t)
}

// sendUnknownCredential sends made-up credentials. It records a finding if the refusal repeats
// them.
func sendUnknownCredential(t *review.T) {
	var headers []rawmcp.Header
	for _, h := range t.Options.Target.Headers {
		headers = append(headers, rawmcp.Header{Name: h.Name, Value: client.MadeUpCredential(h.Value)})
	}
	a := t.ListedAs(headers)
	if a.Exchange == nil || !a.Refused() {
		return
	}
	if t.Trials++; bytes.Contains(a.Exchange.Received, []byte(client.UnknownCredential)) {
		t.Fault("a repeated credential", review.Warning, "the refusal of a credential repeats it", a)
	}
}
