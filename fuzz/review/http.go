package review

import (
	"fmt"
	"net"

	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
)

// AnyRequest returns a case with an honest request of the newest revision that the server speaks,
// altered by alter.
func (t *T) AnyRequest(name string, judge Judge, alter func(*client.Request)) Case {
	return Case{Name: name, Judge: judge, Alter: func(w *client.Request) {
		t.adapt(w)
		alter(w)
	}}
}

// SendAny sends an honest request of the newest revision that the server speaks, altered by alter.
func (t *T) SendAny(alter func(*client.Request)) client.Answer {
	w := t.Request(t.Client.Listing)
	t.adapt(w)
	alter(w)
	return t.Send(w)
}

// adapt turns a request into initialize if the server does not speak the newest revision.
func (t *T) adapt(w *client.Request) {
	if !t.Modern() {
		t.Initializing(w, t.Report.Server.Revisions[0])
	}
}

// Initializing turns a request into initialize, the first request of an older revision.
func (t *T) Initializing(w *client.Request, version string) {
	w.Drop("MCP-Protocol-Version")
	w.Drop("Mcp-Session-Id")
	w.Drop("Mcp-Method")
	w.Drop("Mcp-Name")
	w.Body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"sealab-review","version":"1"}}}`, w.ID, version)
}

// InitializeRequest returns the first request of an older revision.
func (t *T) InitializeRequest(version string) *client.Request {
	w := t.Request(t.Client.Listing)
	t.Initializing(w, version)
	return w
}

// MadeUpHeaders holds a credential that servers do not know.
var MadeUpHeaders = []rawmcp.Header{{Name: "Authorization", Value: client.MadeUpCredential("Bearer x")}}

// Authenticates reports whether the server refuses requests without a credential and with a made-up
// one. It skips the check if the server does not.
func (t *T) Authenticates() bool {
	for _, headers := range [][]rawmcp.Header{nil, MadeUpHeaders} {
		if a := t.ListedAs(headers); !a.Refused() {
			t.Skip("the server answers without good credentials: %v", a)
			return false
		}
	}
	return true
}

// ListedAs returns the answer to the request that [T.ListingAs] returns.
func (t *T) ListedAs(headers []rawmcp.Header) client.Answer { return t.Send(t.ListingAs(headers)) }

// ListingAs returns an honest request with headers in place of the user's credentials.
func (t *T) ListingAs(headers []rawmcp.Header) *client.Request {
	w := t.Request(t.Client.Listing.By(client.Nobody))
	t.adapt(w)
	w.Headers = append(w.Headers, headers...)
	return w
}

// Document gets the document at a path without credentials.
func (t *T) Document(path, accept string, more ...rawmcp.Header) *rawmcp.Exchange {
	headers := []rawmcp.Header{{Name: "Host", Value: t.Client.HTTP.Host()}, {Name: "Accept", Value: accept}, {Name: "Connection", Value: "close"}}
	return t.Client.Raw(t.Context, rawmcp.Request{Verb: "GET", Path: path, Headers: append(headers, more...), Done: func([]byte) bool { return true }})
}

// OnLoopback reports whether the target is a loopback address.
func (r *Review) OnLoopback() bool {
	return r.Client.HTTP != nil && IsLoopback(r.Client.HTTP.Hostname())
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
