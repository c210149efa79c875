package review

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
)

// fetching is the check of servers that open URLs of their clients.
var fetching = []Check{
	{ID: "R-FETCH", Name: "an address of this machine", Severity: Critical, Category: "security",
		Sent: "resources/read of a URL of a listener on this machine that no list names; with --effects, if the server wants credentials, calls of tools that read only and take a URL with the same", Want: "the listener is not asked", Source: "CWE-918; security best practices, server-side request forgery",
		Impact: "clients reach hosts behind the server: its own ports, its network, the metadata of its cloud", Fix: "open listed hosts alone, and refuse addresses of this machine and of private networks after the name is resolved", Run: fetches},
}

// A canary is a listener on this machine with a text of its own.
type canary struct {
	url, text string
	asked     atomic.Bool
	server    *http.Server
}

// newCanary starts a listener; nil if there is none.
func (t *T) newCanary() *canary {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.skip("listening: %v", err)
		return nil
	}
	c := &canary{text: t.word()}
	path := "/" + t.word()
	c.url = "http://" + l.Addr().String() + path
	c.server = &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		c.asked.Store(true)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, c.text) // the server may be gone
	})}
	go func() { _ = c.server.Serve(l) }() // until Close
	return c
}

func fetches(t *T) {
	if t.r.client.http != nil && !t.r.onLoopback() {
		t.skip("the server is on another machine, which has no listener")
		return
	}
	if t.readsAnyURL() {
		return
	}
	t.toolsFetch()
}

// readsAnyURL reads the URL of a listener as a resource.
func (t *T) readsAnyURL() bool {
	s := t.r.Report.Server
	if !s.has("resources") && len(s.Resources)+len(s.Templates) == 0 {
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
	return t.fetchedBy("resources/read", func(u string) Call { return Call{Method: "resources/read", Target: u} })
}

// toolsFetch gives the URL of a listener to tools that read only. A server without
// credentials belongs to the user of this machine, who may read its addresses anyway.
func (t *T) toolsFetch() {
	if !t.r.opts.Effects || t.r.client.http == nil || len(t.r.opts.Target.Headers) == 0 || !t.authenticates() {
		if t.trials == 0 {
			t.skip("no resource, and no tool that reads only and takes a URL on a server that wants credentials; --effects calls such tools")
		}
		return
	}
	for _, tool := range t.r.Report.Server.Tools {
		argument := t.urlArgument(tool.Name)
		if !tool.readOnly() || argument == "" || tool.Name == t.r.opts.Slow {
			continue
		}
		given := samples(tool.Input, 0)[0]
		if t.fetchedBy(tool.Name, func(u string) Call {
			return Call{Method: "tools/call", Target: tool.Name, Arguments: object(with(members(given), argument, quote(u)))}
		}) {
			return
		}
	}
}

// fetchedBy makes a call with the URL of a listener, and refutes if the listener is asked.
// The same address under another spelling passes filters of texts.
func (t *T) fetchedBy(name string, call func(string) Call) bool {
	if t.only != "" && t.only != name {
		return false
	}
	c := t.newCanary()
	if c == nil {
		return false
	}
	defer c.server.Close()
	for _, u := range spellingsOf(c.url) {
		a, ok := t.ask(name, call(u))
		if !ok {
			return false
		}
		if !c.asked.Load() {
			continue
		}
		f := finding(name, Warning, "the server opens "+short(u, 80)+", an address of this machine", a)
		if strings.Contains(a.Text, c.text) {
			f.Severity, f.Issue = Critical, f.Issue+", and returns its text"
		}
		f.Evidence = fmt.Sprintf("%s; the listener was asked", f.Evidence)
		t.refute(f)
		return true
	}
	return false
}

// spellingsOf are spellings of an address of this machine.
func spellingsOf(address string) []string {
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
