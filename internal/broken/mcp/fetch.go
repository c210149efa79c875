package mcp

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// fetched opens a URL that a client supplies.
func (s *Server) fetched(uri string) (object, *failure) {
	client := http.Client{Timeout: 5 * time.Second}
	r, err := client.Get(uri)
	if err != nil {
		return nil, invalidParams("not reachable")
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	return s.listed(object{"contents": []object{{"uri": uri, "text": string(body)}}}), nil
}

// previews are the choices for a tool that opens URLs. On a server without credentials, "previews of
// any host" is not a fault. The last one is none.
var previews = []string{"previews of hosts in other spellings", "previews of any host", "previews by their beginning", "previews of a host"}

// preview opens a URL unless it names this machine. With a fault, it knows few names of it, or
// compares only the beginning with the one host that it allows.
func (s *Server) preview(uri string) (object, *failure) {
	u, err := url.Parse(uri)
	switch {
	case !s.has("previews by their beginning", "previews of a host"):
	case err != nil || !strings.HasPrefix(uri, "http://news.partner.test"), u.Host != "news.partner.test" && s.has("previews of a host"):
		return s.toolError("only http://news.partner.test"), nil
	default:
		uri, u = "http://"+u.Host+u.Path, &url.URL{}
	}
	inner := err != nil || slices.Contains([]string{"127.0.0.1", "localhost", "0.0.0.0", "::1", "::ffff:127.0.0.1"}, u.Hostname())
	if inner && !s.has("previews of any host") {
		return s.toolError("not on the public net"), nil
	}
	uri = strings.Replace(uri, "//127.1:", "//127.0.0.1:", 1)
	if !strings.HasPrefix(uri, "http://127.0.0.1:") {
		return nil, invalidParams("not reachable")
	}
	result, fail := s.fetched(uri)
	if fail != nil {
		return nil, fail
	}
	return s.toolText("%v", result["contents"]), nil
}
