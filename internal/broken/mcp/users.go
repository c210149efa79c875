package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// user authenticates a request.
func (s *Server) user(r *http.Request) (string, bool) {
	user, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		user = ""
	}
	if s.has("credentials of a connection") {
		user = s.kept(r.RemoteAddr, user)
	}
	if q := r.URL.Query().Get("access_token"); q != "" && s.has("credentials in the query") {
		user = q
	}
	if c, err := r.Cookie("token"); err == nil && s.has("credentials in cookies") {
		user = c.Value
	}
	if c, err := r.Cookie("user"); err == nil && s.has("cookies of users") {
		user = c.Value
	}
	if name, _, ok := r.BasicAuth(); ok && s.has("credentials of Basic") {
		user = name
	}
	if name := r.Header.Get("X-Forwarded-User"); name != "" && user != "" && s.has("users renamed") {
		return name, true
	}
	switch {
	case !s.Users:
		return "", true
	case user == "alice" || user == "bob":
		return user, true
	case len(user) > 2 && s.has("credentials as patterns") && matches(user, "alice"):
		return "alice", true
	case strings.HasSuffix(r.URL.Path, "/") && s.has("paths with a stroke open"), r.Header.Get("Mcp-Method") == "notifications/cancelled" && s.has("notifications without credentials"):
		return "", true
	case len(user) == len("alice") && strings.HasPrefix(user, "ali") && s.has("credentials by name and length"):
		return "alice", true
	case strings.Count(user, ".") == 2 && s.has("credentials that cannot be read count as none"):
		return "", true
	case user == Elsewhere && s.has("any audience"), user != "" && strings.HasPrefix("alice", user) && s.has("credentials by their beginning"):
		return "alice", true
	case r.Header.Get("Mcp-Method") == "prompts/get" && s.has("prompts without credentials"),
		r.Header.Get("Mcp-Method") == "completion/complete" && s.has("completions without credentials"),
		r.Header.Get("Mcp-Method") == "server/discover" && s.has("handshakes by header"):
		return "", true
	case r.Header.Get("X-Forwarded-For") == "127.0.0.1" && s.has("addresses of proxies believed"):
		return "alice", true
	}
	return "", s.has("no credentials wanted")
}

// renamed is the user that a request names, with a fault; the one of its credential without.
func (s *Server) renamed(user string, req request, r *http.Request) string {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(req.params["_meta"], &meta)
	named := ""
	switch {
	case s.has("users of _meta"):
		_ = json.Unmarshal(meta["userId"], &named)
	case s.has("users of params"):
		_ = json.Unmarshal(req.params["user"], &named)
	case s.has("users of queries"):
		named = r.URL.Query().Get("user")
	case s.has("known users of _meta"):
		if _ = json.Unmarshal(meta["user"], &named); named != "alice" && named != "bob" {
			named = ""
		}
	}
	return cmp.Or(named, user)
}

// kept returns the user of the first request over a connection.
func (s *Server) kept(connection, user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[connection] == "" {
		s.users[connection] = user
	}
	return s.users[connection]
}
