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

// export gives the places of a user to a client.
func (s *Server) export(r request, env string) (object, *failure) {
	var meta map[string]struct{ Name string }
	_ = json.Unmarshal(r.params["_meta"], &meta) // other members have other types
	key := fmt.Sprintf("consent to %q for %q", meta["io.modelcontextprotocol/clientInfo"].Name, env)
	if s.has("consents remembered") {
		key += " of " + r.user
	}
	return s.onceAsked(r, "export", env, key, func(bool) object { return s.toolText("%s", strings.Join(knownPlaces[r.user], ", ")) })
}

// onceAsked asks before a call, and remembers an acceptance under a key. It carries out a call whose key is
// known without a question.
func (s *Server) onceAsked(r request, tool, env, key string, run func(again bool) object) (object, *failure) {
	given := s.said.get(key) != ""
	if given && r.params["requestState"] == nil {
		return run(true), nil
	}
	return s.round(r, r.placed(tool), env, []string{"confirm"}, func(claims) object {
		s.said.put(key, "given")
		return run(given)
	})
}

// tripChoices are the choices for the tool trip, which books a trip to a place after an approval that it
// remembers. Only the first is a fault: the approval of one place counts for others. With the last, a second
// trip is not booked.
var tripChoices = []string{"trips approved for any place", "trips approved by place", "one trip"}

// trip books a trip to a place.
func (s *Server) trip(r request, env string) (object, *failure) {
	key := "trips approved"
	if s.has("trips approved by place") {
		key += " to " + env
	}
	return s.onceAsked(r, "trip", env, key, func(again bool) object {
		if again && s.has("one trip") {
			return s.toolText("no trip to %s, because there is one already", env)
		}
		return s.toolText("a trip to %s is booked", env)
	})
}
