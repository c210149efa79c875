package mcp

import "strings"

// mappedChoices are the choices for states that are bound to arguments in upper case. The first, a fault,
// removes the place as it is sent. The others remove the place in upper case, of which the second tells the
// text as it is sent, or the place in the state.
var mappedChoices = []string{"places as sent", "places as sent, kept in upper case", "places in upper case", "places of states"}

// maxKept is the length of the longest place that is kept, in bytes.
const maxKept = 100

// actedOn returns the place that a call acts on, of the one in the state and the one that was sent.
func (s *Server) actedOn(kept, sent string) string {
	switch {
	case s.has(mappedChoices[:2]...):
		return sent
	case s.has("places in upper case"):
		return strings.ToUpper(sent)
	}
	return kept
}

// keepPlace adds a place to those that a user removed.
func (s *Server) keepPlace(user, place string) {
	if !s.has(mappedChoices[:2]...) || len(place) > maxKept {
		return
	}
	if s.has("places as sent, kept in upper case") {
		place = strings.ToUpper(place)
	}
	s.said.add("places of "+user, place+"\n")
}
