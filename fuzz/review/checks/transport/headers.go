package transport

import (
	"bytes"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

const transportSpec = "revision 2026-07-28, basic/transports/streamable-http"

// headerChecks are the checks of headers and their agreement with the body, over HTTP in revision
// 2026-07-28.
var headerChecks = []review.Check{
	{
		ID: "H-VER", Name: "an unknown protocol revision", Over: "http", Era: "modern", Severity: review.Critical, Category: "transport",
		Sent: "tools/list with the revisions 1900-01-01, 2099-12-31 and banana in header and body; a call of an " +
			"unknown tool with the first two",
		Want:   "answers error -32022 with the supported revisions",
		Source: transportSpec + " and versioning",
		Impact: "client and server use different protocol revisions without noticing",
		Fix: "compare the revision with the supported ones before any other check, and answer -32022 with " +
			"data.supported",
		Run: checkUnknownVersions,
	},
	{
		ID: "H-VERMIS", Name: "different revisions in header and body", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "an older revision in the body and 2026-07-28 in MCP-Protocol-Version, and the reverse; a list of " +
			"revisions and a revision with a parameter in the header; no header with a body of 2026-07-28; an older " +
			"header, and none, with a state",
		Want:   "answers error -32020, or -32022 for a revision that it does not list",
		Source: transportSpec,
		Impact: "a gateway routes by the header while the server acts on the body",
		Fix:    "compare MCP-Protocol-Version with _meta and answer -32020",
		Run:    checkVersionMismatch,
	},
	{
		ID: "H-META", Name: "a request without required _meta members", Over: "http", Era: "modern", Severity: review.Warning, Category: "schema",
		Sent: "tools/list without _meta, without protocolVersion, without clientCapabilities, and with a string as " +
			"clientCapabilities",
		Want:   "answers error -32602",
		Source: "revision 2026-07-28, basic",
		Impact: "the server guesses the revision or the capabilities of the client",
		Fix:    "require the members of _meta and answer -32602",
		Run:    checkMissingMeta,
	},
	{
		ID: "H-METHOD", Name: "an Mcp-Method header that differs from the body", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "tools/list without Mcp-Method; with another method, another method of the same kind, and its own in " +
			"upper case; with the header spelled Mcp_Method and Mcp.Method; other methods that the server has " +
			"with another Mcp-Method; an unaltered request with lower-case header names; a state with another Mcp-Method, and " +
			"without it",
		Want:   "answers error -32020; accepts header names in any case",
		Source: transportSpec,
		Impact: "a client calls a method that a gateway forbids by its header",
		Fix:    "compare Mcp-Method with method and answer -32020",
		Run:    checkMethodHeader,
	},
	{
		ID: "H-NAME", Name: "an Mcp-Name header that differs from the body", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "a call of an unknown tool without Mcp-Name; with another name, a part of its own, its own with more " +
			"characters, with a slash at the end, and in upper case; an unknown prompt and an unknown resource " +
			"with another name; a state with another Mcp-Name, and without it",
		Want:   "answers error -32020",
		Source: transportSpec,
		Impact: "a client calls a tool that a gateway forbids by its header",
		Fix:    "compare Mcp-Name with the name or URI in params, and answer -32020",
		Run:    checkNameHeader,
	},
	{
		ID: "H-NAME64", Name: "an Mcp-Name header in base64", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent:   "a call of an unknown tool with Mcp-Name in the form =?base64?...?=: the right name and another one",
		Want:   "accepts the right name; answers error -32020 to the other",
		Source: transportSpec,
		Impact: "tools whose names are not ASCII cannot be called; or a client passes a gateway with a name in base64",
		Fix:    "decode =?base64?...?= before comparing",
		Run:    checkBase64Name,
	},
}

func checkUnknownVersions(t *review.T) {
	var all []review.Case
	for _, v := range []string{"1900-01-01", "2099-12-31", "banana"} {
		all = append(all, review.Case{Name: v, Alter: func(w *client.Request) {
			w.Set("MCP-Protocol-Version", v)
			w.Replace(client.Modern, v)
		}, Judge: wantUnsupportedVersion})
	}
	if own := t.Call(client.UnknownCall); own.Kind == client.Failed { // or only before some methods
		for _, v := range []string{"1900-01-01", "2099-12-31"} {
			all = append(all, review.Case{Name: v + ", a call", Call: client.UnknownCall, Alter: func(w *client.Request) {
				w.Set("MCP-Protocol-Version", v)
				w.Replace(client.Modern, v)
			}, Judge: review.FaultIf(review.Warning, "refused by the name of the tool alone", func(a client.Answer) bool {
				return a.Kind == client.Failed && a.Code != -32022 && a.Refusal() == own.Refusal()
			})})
		}
	}
	t.Cases(all...)
}

// wantUnsupportedVersion wants error -32022 with the list of supported revisions.
func wantUnsupportedVersion(a client.Answer) (review.Severity, string) {
	severity, issue := review.WantCode(review.Critical, review.Warning, -32022)(a)
	if issue == "" && jsondoc.Members(a.Data)["supported"] == nil {
		return review.Warning, "refused with -32022 that names no supported revision"
	}
	return severity, issue
}

func checkVersionMismatch(t *review.T) {
	want := review.WantCode(review.Warning, review.Warning, -32020)
	t.Cases(
		review.Case{Name: "an older body", Alter: client.Replacing(client.Modern, client.Older), Judge: wantOrUnsupported(want)},
		review.Case{Name: "an older header", Alter: client.WithHeader("MCP-Protocol-Version", client.Older), Judge: wantOrUnsupported(want)},
		review.Case{Name: "no header", Alter: client.WithoutHeader("MCP-Protocol-Version"), Judge: want},
		review.Case{Name: "a list in the header", Alter: client.WithHeader("MCP-Protocol-Version", client.Modern+", "+client.Older), Judge: review.WantRefused(review.Warning)},
		review.Case{Name: "a parameter in the header", Alter: client.WithHeader("MCP-Protocol-Version", client.Modern+";q=1"), Judge: review.WantRefused(review.Warning)},
	)
	retriesWith(t, "MCP-Protocol-Version", client.Older)
	retriesWithout(t, "MCP-Protocol-Version")
}

// wantOrUnsupported also accepts -32022 if the server does not list the older revision. The
// specification requires both errors and does not say which comes first.
func wantOrUnsupported(want review.Judge) review.Judge {
	return func(a client.Answer) (review.Severity, string) {
		if supported := jsondoc.Members(a.Data)["supported"]; a.Code == -32022 && supported != nil && !bytes.Contains(supported, []byte(client.Older)) {
			return "", ""
		}
		return want(a)
	}
}

func checkMissingMeta(t *review.T) {
	want := review.WantCode(review.Warning, review.Suggestion, -32602)
	t.Cases(
		review.Case{Name: "no _meta", Alter: client.Replacing(`"_meta":`, `"meta":`), Judge: want},
		review.Case{Name: "no protocolVersion", Alter: client.Replacing(client.MetaVersion, "x/none"), Judge: want},
		review.Case{Name: "no clientCapabilities", Alter: client.Replacing(client.MetaCapabilities, "x/none"), Judge: want},
		review.Case{Name: "a text as clientCapabilities", Alter: client.Replacing(client.EveryCapability, `"all"`), Judge: want},
	)
}

func checkMethodHeader(t *review.T) {
	own := t.Client.Listing.Method
	want := review.WantCode(review.Warning, review.Warning, -32020)
	other := alteredCalls(t, "another Mcp-Method", review.Warning, func(w *client.Request, method string) {
		if w.Set("Mcp-Method", "tools/call"); method == "tools/call" {
			w.Set("Mcp-Method", "prompts/get")
		}
	})
	t.Cases(append(other,
		review.Case{Name: "no Mcp-Method", Alter: client.WithoutHeader("Mcp-Method"), Judge: want},
		review.Case{Name: "another Mcp-Method", Alter: client.WithHeader("Mcp-Method", otherList(own)), Judge: want},
		review.Case{Name: "an Mcp-Method of the same kind", Alter: client.WithHeader("Mcp-Method", sameKind[own]), Judge: want},
		review.Case{Name: "Mcp-Method in upper case", Alter: client.WithHeader("Mcp-Method", strings.ToUpper(own)), Judge: want},
		methodUnderName("Mcp_Method", own), methodUnderName("Mcp.Method", own),
		review.Case{Name: "names of headers in lower case", Alter: func(w *client.Request) {
			for i := range w.Headers {
				w.Headers[i].Name = strings.ToLower(w.Headers[i].Name)
			}
		}, Judge: review.WantServed(review.Warning)},
	)...)
	retriesWith(t, "Mcp-Method", otherList(own))
	retriesWithout(t, "Mcp-Method")
}

// otherList returns the method of another list.
func otherList(method string) string {
	if method == "prompts/list" {
		return "tools/list"
	}
	return "prompts/list"
}

// sameKind maps honest methods to others of the same kind.
var sameKind = map[string]string{"tools/list": "tools/call", "prompts/list": "prompts/get", "resources/list": "resources/read", "server/discover": "server/none"}

// methodUnderName returns a request whose Mcp-Method has another name, which gateways pass on
// unread.
func methodUnderName(name, method string) review.Case {
	return review.Case{Name: name, Alter: func(w *client.Request) {
		w.Drop("Mcp-Method")
		w.Add(name, method)
	}, Judge: review.WantRefused(review.Suggestion)}
}

// comparesName reports whether the server answers an unknown tool differently from a wrong
// Mcp-Name. It skips the check if not.
func comparesName(t *review.T) bool {
	if a := t.Call(client.UnknownCall); !a.Conclusive() || a.Code == -32020 || len(t.Report.Server.Tools) == 0 {
		t.Skip("control: a call of an unknown tool: %v", a)
		return false
	}
	return true
}

// refusesName reports whether an answer refuses the Mcp-Name of a request.
func refusesName(a client.Answer) bool { return a.Code == -32020 || a.Kind == client.HTTPError }

// wantOtherName accepts the refusal of another Mcp-Name.
var wantOtherName = review.FaultIf(review.Warning, "taken as if the header were right", func(a client.Answer) bool { return !refusesName(a) })

func checkNameHeader(t *review.T) {
	if !comparesName(t) {
		return
	}
	all := []review.Case{{Name: "the beginning of the name", Call: client.UnknownCall, Alter: client.WithHeader("Mcp-Name", client.NoSuchTool[:len(client.NoSuchTool)/2]), Judge: wantOtherName},
		{Name: "the name with more characters", Call: client.UnknownCall, Alter: client.WithHeader("Mcp-Name", client.NoSuchTool+"s"), Judge: wantOtherName},
		{Name: "the name with a stroke", Call: client.UnknownCall, Alter: client.WithHeader("Mcp-Name", client.NoSuchTool+"/"), Judge: wantOtherName}}
	for _, call := range []client.Call{{Method: "prompts/get", Target: client.NoSuchPrompt}, {Method: "resources/read", Target: client.MissingURI}} {
		if a := t.Call(call); a.Kind == client.Failed && a.Code != -32020 && a.Code != -32601 {
			all = append(all, review.Case{Name: "another Mcp-Name, " + call.Method, Call: call, Alter: client.WithHeader("Mcp-Name", "other"), Judge: wantOtherName})
		}
	}
	t.Cases(append(all,
		review.Case{Name: "no Mcp-Name", Call: client.UnknownCall, Alter: client.WithoutHeader("Mcp-Name"), Judge: wantOtherName},
		review.Case{Name: "another Mcp-Name", Call: client.UnknownCall, Alter: client.WithHeader("Mcp-Name", "other"), Judge: wantOtherName},
		review.Case{Name: "Mcp-Name in upper case", Call: client.UnknownCall, Alter: client.WithHeader("Mcp-Name", strings.ToUpper(client.NoSuchTool)), Judge: wantOtherName},
	)...)
	retriesWith(t, "Mcp-Name", "other")
	retriesWithout(t, "Mcp-Name")
}

func checkBase64Name(t *review.T) {
	if !comparesName(t) {
		return
	}
	t.Cases(
		review.Case{Name: "the right name", Call: client.UnknownCall,
			Alter: client.WithHeader("Mcp-Name", client.Base64Form(client.NoSuchTool)),
			Judge: review.FaultIf(review.Warning, "refused", refusesName)},
		review.Case{Name: "another name", Call: client.UnknownCall, Alter: client.WithHeader("Mcp-Name", client.Base64Form("other")), Judge: wantOtherName},
	)
}

// harmlessCalls ask for lists, and for names that do not exist.
var harmlessCalls = []client.Call{
	{Method: "server/discover"}, {Method: "prompts/list"}, {Method: "resources/list"}, {Method: "resources/templates/list"}, client.UnknownCall,
	{Method: "prompts/get", Target: client.NoSuchPrompt}, {Method: "resources/read", Target: client.MissingURI},
}

// alteredCalls returns cases with one alteration for each method that the server has, because a
// server may check only some methods. An answer like that to the honest request is a fault.
func alteredCalls(t *review.T, name string, severity review.Severity, alter func(w *client.Request, method string)) []review.Case {
	if !t.Modern() {
		return nil
	}
	var all []review.Case
	for _, call := range harmlessCalls {
		own := t.Call(call)
		refusedByItself := own.Code == -32020 || own.Code == -32601 || own.Status == 403
		if own.Kind != client.Completed && own.Kind != client.Failed && own.Kind != client.ToolError || refusedByItself {
			continue
		}
		all = append(all, review.Case{Name: name + ", " + call.Method, Call: call, Alter: func(w *client.Request) { alter(w, call.Method) }, Judge: review.FaultIf(severity, "answered as an honest request", func(a client.Answer) bool {
			return client.Served(a) || a.Kind == own.Kind && a.Kind != client.Completed && a.Refusal() == own.Refusal()
		})})
	}
	return all
}
