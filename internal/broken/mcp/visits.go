package mcp

// pageVisitChoices are the choices for confirmations on a page, which nobody visits here. With the first, a fault, an
// accept is the confirmation if the reason is need. The second waits after both reasons, and the last
// says that it waits.
var pageVisitChoices = []string{"one reason waits for no visit", "visits for all reasons", "one reason is noted until the visit"}

// visitQuestion has the parameters of the question at the URL of the page.
const visitQuestion = `{"mode":"url","message":"Please confirm in the browser. The call goes on when that is done.","elicitationId":"1","url":"https://login.test.invalid/confirm"}`

// chosen returns the part of the content of an answer that the state holds: a reason on which a later round
// depends, or a note.
func (s *Server) chosen(content any) string {
	switch {
	case s.has("notes in states"):
		return textIn(content, "note")
	case s.has(pageVisitChoices...), s.has(reasonFirstChoices...):
		return textIn(content, "reason")
	}
	return ""
}

// reasonFirstChoices are the choices for a reason that is asked first. Only the last one is sound: with the
// others, states of the first reason are not bound, or good twice.
var reasonFirstChoices = []string{"states of plans not bound", "states of plans used twice", "reasons first"}

// isOfPlan reports whether a state is one of the first reason, with a fault.
func (s *Server) isOfPlan(c claims, fault string) bool { return c.Past == "plan" && s.has(fault) }

// goesOnUnvisited reports whether an accept alone lets a call go on.
func (s *Server) goesOnUnvisited(c claims) bool {
	return c.Past == "need" && !s.has("visits for all reasons")
}

// unvisited returns the words of a result that still waits for a visit.
func (s *Server) unvisited(c claims) string {
	if c.Step == "confirm" && s.has("one reason is noted until the visit") {
		return ", pending the visit"
	}
	return ""
}
