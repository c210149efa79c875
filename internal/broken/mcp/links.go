package mcp

// linkChoices are the choices for a tool that gives links with a token. Under the first, the token is a state
// of the last round of deploy, which is a fault; under the second, it is for reading alone; under the third, it
// is the last state that a question gave.
var linkChoices = []string{"links signed as states", "links for reading", "links with waiting states"}

// link returns the token of a link.
func (s *Server) link(r request, env string) string {
	switch {
	case s.has("links signed as states"):
		return s.mint(claims{Step: "reason", Env: env}, r.placed("deploy"))
	case s.has("links with waiting states"):
		return s.said.get("waiting")
	}
	return s.mint(claims{Step: "reason", Env: env}, r.placed("link"))
}

// keepWaiting remembers the state of a question for the links that show it, and for the end of input.
func (s *Server) keepWaiting(token string) {
	if s.has("links with waiting states", "the end of input ignored after questions") {
		s.said.put("waiting", token)
	}
}
