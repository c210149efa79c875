package mcp

// quotaChoices are the choices for removals of which each user has one. The first, a fault, looks at the number
// only when a call begins. With the second, it counts again at the end; with the third, calls that ended give the
// first result again. The last limits the calls that begin.
var quotaChoices = []string{"quotas of calls that begin", "quotas of calls that end", "quotas with one result", "beginnings limited"}

// maxBeginnings is the number of calls that a user may begin, if these are limited.
const maxBeginnings = 11

// overQuota returns the refusal of a new call, or nil.
func (s *Server) overQuota(r request) object {
	if r.params["requestState"] != nil || !s.has(quotaChoices...) {
		return nil
	}
	if begun := s.said.add("begun by "+r.user, "x"); s.has("beginnings limited") && len(begun) > maxBeginnings {
		return s.toolError("begin no more calls")
	}
	if !s.has("beginnings limited") && s.said.get("quota of "+r.user) != "" {
		return s.toolError("you have had your removal")
	}
	return nil
}

// countedRemoval counts a removal of a user and returns its result.
func (s *Server) countedRemoval(r request, env string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := "quota of " + r.user
	if n := len(s.said.get(key)); n > 0 && s.has("quotas of calls that end") {
		return s.toolError("you have had your removal")
	} else if n == 0 || !s.has("quotas with one result") {
		s.said.add(key, "x")
	}
	return object{"content": textContent("removed %s, removal %d of %s", env, len(s.said.get(key)), r.user)}
}
