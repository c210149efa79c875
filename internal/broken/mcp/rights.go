package mcp

// shareChoices are the choices for notes that others may read and listen to. The second is sound.
var shareChoices = []string{"shares looked at once", "shares"}

// membershipChoices are the choices for users who may deploy until another one removes them. The second is sound.
var membershipChoices = []string{"memberships looked at once", "memberships"}

// isShared reports whether other users may read a note.
func (s *Server) isShared(uri string) bool { return s.said.get("shared "+uri) != "" }

// changeRights runs a tool that ends or gives rights.
func (s *Server) changeRights(r request, name string, args map[string]string) object {
	switch name {
	case "forget":
		s.said.put("deleted "+args["env"], "deleted")
	case "leave":
		s.said.put("off "+r.user, "off")
	case "return":
		s.said.put("off "+r.user, "")
	case "member":
		if r.user == args["user"] {
			return s.toolError("this is you")
		}
		s.said.put("role of "+args["user"], args["role"])
	case "share":
		s.said.put("shared notes://user/"+r.user, "shared")
	case "unshare":
		s.said.put("shared notes://user/"+r.user, "")
	case "retract":
		s.said.add("withdrawn "+r.user, "x")
	}
	return s.toolText("done")
}

// barred returns the reason why a round of a call is refused, or "". With faults, or if only new calls
// end, it looks at the first round alone.
func (s *Server) barred(r request, env string, given bool) string {
	switch {
	case r.user == "" && !given && s.has(guestChoices...):
		return "please sign in"
	case s.said.get("off "+r.user) != "" && !(given && s.has("duties looked at once", "duties end with new calls")): // the second is sound
		return "you are off duty"
	case s.said.get("role of "+r.user) == "none" && !(given && s.has("memberships looked at once")):
		return "you are no member"
	case s.said.get("deleted "+env) != "" && !(given && s.has("deletions looked at once")):
		return "there is no " + env
	}
	return ""
}

// withdrawals returns the number of times that a user withdrew the calls that wait. With a fault, or if
// the tool withdraws removals alone, it is the same for other calls.
func (s *Server) withdrawals(p boundRequest) int {
	if p.target != "remove" && s.has("withdrawals reach removals alone", "withdrawals of removals") { // the second is sound
		return 0
	}
	return len(s.said.get("withdrawn " + p.user))
}
