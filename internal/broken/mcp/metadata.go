package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
)

// linkToResult tells a link to what a call has done. With a fault it has the host in X-Forwarded-Host of the first request.
func (s *Server) linkToResult(r request) string {
	switch {
	case s.has("links of forwarded hosts"):
		return ", see http://" + cmp.Or(s.said.get("host of "+r.user), "notes.test.invalid") + "/done"
	case s.has("links of one host"): // sound
		return ", see http://notes.test.invalid/done"
	}
	return ""
}

// forwardedHost returns the host of the request. With the fault it returns the host in
// X-Forwarded-Host.
func (s *Server) forwardedHost(r *http.Request, fault string) string {
	if host := r.Header.Get("X-Forwarded-Host"); host != "" && s.has(fault) {
		return host
	}
	return r.Host
}

// challenge writes a challenge that names the server's metadata (RFC 9728, section 5.1).
func (s *Server) challenge(w http.ResponseWriter, r *http.Request) {
	if s.has("no challenges") {
		return
	}
	value := `Bearer resource_metadata="http://` + s.forwardedHost(r, "challenges of forwarded hosts") + `/.well-known/oauth-protected-resource/mcp"`
	if s.has("challenges without metadata") {
		value = "Bearer"
	}
	if s.has("challenges repeat credentials") {
		value += fmt.Sprintf(", error_description=%q", "unknown: "+r.Header.Get("Authorization"))
	}
	w.Header().Set("WWW-Authenticate", value)
}

// metadata serves the metadata of the protected resource (RFC 9728, section 2).
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	if s.has("no metadata") {
		http.NotFound(w, r)
		return
	}
	document := object{"resource": "http://" + s.forwardedHost(r, "metadata of forwarded hosts") + "/mcp", "authorization_servers": []string{"https://login.example"}}
	if s.has("authorization servers without TLS") {
		document["authorization_servers"] = []string{"http://login.example"}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) // the client may have closed the connection
}

// matchesWhole reports whether a pattern matches a whole text.
func matchesWhole(pattern, text string) bool {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && re.MatchString(text)
}
