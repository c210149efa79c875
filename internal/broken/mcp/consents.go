package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// consentChoices are the choices for the tool export, which gives places of a user to a client after a consent
// that is remembered for the name of the client. Only the first is a fault: the consent counts for any user, and
// the texts do not say so.
var consentChoices = []string{"consents remembered for any user", "consents remembered", "consents for all users"}

// consentText returns the description of the tool export.
func (s *Server) consentText() string {
	text := "gives your places to the client, asks for your consent"
	if s.has("consents for all users") {
		return text + ", which counts for all users"
	}
	return text + ", which is remembered"
}

// export gives the places of a user to a client.
func (s *Server) export(r request, env string) (object, *failure) {
	var meta map[string]struct{ Name string }
	_ = json.Unmarshal(r.params["_meta"], &meta) // other members have other types
	key := fmt.Sprintf("consent to %q for %q", meta["io.modelcontextprotocol/clientInfo"].Name, env)
	if s.has("consents remembered") {
		key += " of " + r.user
	}
	give := func(claims) object {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.said[key] = "given"
		return s.toolText("%s", strings.Join(knownPlaces[r.user], ", "))
	}
	s.mu.Lock()
	given := s.said[key] != ""
	s.mu.Unlock()
	if given && r.params["requestState"] == nil {
		return give(claims{}), nil
	}
	return s.round(r, r.placed("export"), env, []string{"confirm"}, give)
}
