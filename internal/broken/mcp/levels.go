package mcp

import "strings"

// levelChoices are the choices for reasons that are offered only to the office and told in the result. The
// first, a fault, takes them from anybody. The second asks other users again, the third takes the usual
// reason instead, and the last refuses in a result.
var levelChoices = []string{"reasons of the office taken from anybody", "reasons of the office", "reasons of the office replaced", "reasons of the office refused"}

// offeredReasons returns the parameters of a question with the reasons that its user may give.
func (s *Server) offeredReasons(params, user string) string {
	if user == officeUser || !s.has(levelChoices...) {
		return params
	}
	return strings.Replace(params, `,{"const":"need","title":"Needed"}`, "", 1)
}

// mayGive reports whether a user may give a reason.
func (s *Server) mayGive(user string, content any) bool {
	return member(content, "reason") != "need" || user == officeUser || !s.has("reasons of the office")
}

// toldReason returns the reason of a call for its result, or "".
func (s *Server) toldReason(user string, content any) string {
	reason := textIn(content, "reason")
	switch {
	case reason == "" || !s.has(levelChoices...):
		return ""
	case reason == "need" && user != officeUser && s.has("reasons of the office replaced"):
		reason = "plan"
	case reason == "need" && user != officeUser && s.has("reasons of the office refused"):
		return " not allowed: need is for the office"
	}
	return " by " + reason
}
