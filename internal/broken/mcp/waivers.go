package mcp

// waiverChoices are the choices for a box in the last question by which the user is not asked again. With the
// first, a fault, no user is. The last one says so.
var waiverChoices = []string{"waivers of any user", "waivers of their user", "waivers of a team"}

// isWaived notes that a user is not asked again if the content of the last answer says so. It reports whether the
// next question, if there is one, is left out.
func (s *Server) isWaived(r request, c claims, next bool, content any) bool {
	if !s.has(waiverChoices...) {
		return false
	}
	key := "waiver for " + c.Env
	if s.has("waivers of their user") {
		key += " of " + r.user
	}
	if member(content, "remember") == true {
		s.said.put(key, "waived")
	}
	return next && s.said.get(key) != ""
}

// waiverTitle returns the title of the box, or "".
func (s *Server) waiverTitle() string {
	switch {
	case s.has("waivers of a team"):
		return "Do not ask the team again"
	case s.has(waiverChoices...):
		return "Do not ask me again"
	}
	return ""
}
