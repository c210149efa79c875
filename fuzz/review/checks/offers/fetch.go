package offers

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// fetchChecks is the check of servers that open URLs of their clients.
var fetchChecks = []review.Check{
	{
		ID: "R-FETCH", Name: "a request of the server to this machine", Severity: review.Critical, Category: "security",
		Sent: "if the server lists no http resources: resources/read of the URL of a listener on this machine, in " +
			"several spellings; with --effects, on a server that requires credentials, the same URLs as " +
			"arguments of read-only tools",
		Want:   "sends no request to the listener",
		Source: "CWE-918; security best practices, server-side request forgery",
		Impact: "clients reach hosts behind the server: its own ports, its network, the metadata service of its cloud",
		Fix: "connect only to hosts on a list, and refuse loopback and private addresses after the name is " +
			"resolved",
		Run: checkFetches,
	},
}

// A canary is a listener on this machine that serves a text of its own.
type canary struct {
	url, text string
	asked     atomic.Bool
	server    *http.Server
}

// newCanary starts a listener. It skips the check and returns nil on failure.
func newCanary(t *review.T) *canary {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("listening: %v", err)
		return nil
	}
	c := &canary{text: t.Word()}
	path := "/" + t.Word()
	c.url = "http://" + l.Addr().String() + path
	c.server = &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		c.asked.Store(true)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, c.text) // the server may have closed the connection
	})}
	go func() { _ = c.server.Serve(l) }() // until Close
	return c
}

func checkFetches(t *review.T) {
	if t.Client.HTTP != nil && !t.OnLoopback() {
		t.Skip("the server is on another machine, which has no listener")
		return
	}
	if readsAnyURL(t) {
		return
	}
	fetchWithTools(t)
}

// readsAnyURL reads the URL of a listener as a resource.
func readsAnyURL(t *review.T) bool {
	s := t.Report.Server
	if !s.Has("resources") && len(s.Resources)+len(s.Templates) == 0 {
		return false
	}
	var offered []string
	for _, x := range s.Resources {
		offered = append(offered, x.URI)
	}
	for _, x := range s.Templates {
		offered = append(offered, x.URI)
	}
	if slices.ContainsFunc(offered, func(uri string) bool {
		return strings.HasPrefix(strings.ToLower(uri), "http") || strings.HasPrefix(uri, "{")
	}) {
		return false
	}
	return callWithCanaryURL(t, "resources/read", func(u string) client.Call { return client.Call{Method: "resources/read", Target: u} })
}

// fetchWithTools gives the URL of a listener to read-only tools. A server without credentials
// belongs to the user of this machine, who may read its addresses anyway.
func fetchWithTools(t *review.T) {
	if !t.Options.Effects || t.Client.HTTP == nil || len(t.Options.Target.Headers) == 0 || !t.Authenticates() {
		if t.Trials == 0 {
			t.Skip("no resource, and no tool that reads only and takes a URL on a server that wants credentials; --effects calls such tools")
		}
		return
	}
	for _, tool := range t.Report.Server.Tools {
		argument := t.URLArgument(tool.Name)
		if !tool.IsReadOnly() || argument == "" || tool.Name == t.Options.Slow {
			continue
		}
		given := t.Sample(tool)
		if callWithCanaryURL(t, tool.Name, func(u string) client.Call {
			return client.Call{Method: "tools/call", Target: tool.Name, Arguments: jsondoc.Object(jsondoc.With(jsondoc.Members(given), argument, jsondoc.Quote(u)))}
		}) {
			return
		}
	}
}

// callWithCanaryURL makes calls with the URL of a listener, in several spellings that filters may
// miss. It records a finding if the listener receives a request.
func callWithCanaryURL(t *review.T, name string, call func(string) client.Call) bool {
	if !t.Selected(name) {
		return false
	}
	c := newCanary(t)
	if c == nil {
		return false
	}
	defer c.server.Close()
	for _, u := range loopbackSpellings(c.url) {
		a, ok := t.Ask(name, call(u))
		if !ok {
			return false
		}
		if !c.asked.Load() {
			continue
		}
		f := review.NewFinding(name, review.Warning, "the server opens "+client.Short(u, 80)+", an address of this machine", a)
		if strings.Contains(a.Text, c.text) {
			f.Severity, f.Issue = review.Critical, f.Issue+", and returns its text"
		}
		f.Evidence = fmt.Sprintf("%s; the listener was asked", f.Evidence)
		t.Refute(f)
		return true
	}
	return false
}

// loopbackSpellings returns spellings of an address of this machine.
func loopbackSpellings(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	all := []string{address}
	for _, host := range []string{"localhost", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		u.Host = net.JoinHostPort(strings.Trim(host, "[]"), u.Port())
		all = append(all, u.String())
	}
	return all
}
