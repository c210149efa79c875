package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// profileChoices are the choices for profiles of users, which the tool rename changes and the tool profile
// shows. The first two are faults: rename sets any member, and the shown profile is a format. The third ignores
// other members, the fourth says in its schema that it takes them, and the fifth shows the latest call.
var profileChoices = []string{"profiles of any members", "profiles shown as formats", "profiles", "profiles of free members", "profiles with the latest call"}

// nestedProfiles is the choice for a tool rename that takes the changes of a profile as one object, and asks before
// it saves them. It is not a fault.
const nestedProfiles = "changes of profiles asked for"

// rename changes the profile of a user.
func (s *Server) rename(r request) (object, *failure) {
	if !s.has(nestedProfiles) {
		return s.saveProfile(r, r.params["arguments"]), nil
	}
	var given struct{ Changes json.RawMessage }
	_ = json.Unmarshal(r.params["arguments"], &given) // validated before
	return s.round(r, r.placed("rename"), "the profile", []string{"confirm"}, func(claims) object { return s.saveProfile(r, given.Changes) })
}

// saveProfile saves the changes of a profile.
func (s *Server) saveProfile(r request, changes json.RawMessage) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := s.profileOf(r.user)
	_ = json.Unmarshal(changes, &given) // validated before
	if !s.has("profiles of any members", "profiles of free members") {
		given = map[string]any{"name": given["name"], "role": "member"}
	}
	raw, _ := json.Marshal(given) // encoding these types does not fail
	s.said.put("profile of "+r.user, string(raw))
	s.said.put("renamed by "+r.user, string(r.params["arguments"]))
	return s.toolText("renamed to %v", given["name"])
}

// profileOf returns the profile of a user.
func (s *Server) profileOf(user string) map[string]any {
	all := map[string]any{"name": user, "role": "member"}
	_ = json.Unmarshal([]byte(s.said.get("profile of "+user)), &all) // none: the usual one
	return all
}

// profile returns the result of the tool profile.
func (s *Server) profile(r request) object {
	raw, _ := json.Marshal(s.profileOf(r.user)) // encoding these types does not fail
	text := string(raw)
	if s.has("profiles shown as formats") {
		text = strings.ReplaceAll(text, "{0.__class__}", "<class 'str'>")
	}
	if s.has("profiles with the latest call") {
		text += fmt.Sprintf(", after rename %s", s.said.get("renamed by "+r.user))
	}
	return s.toolText("%s", text)
}
