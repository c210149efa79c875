package mcp

import "cmp"

// boardChoices are the choices for boards that sessions keep. Only the first is a fault: a new session
// gets the board of the latest one that ended.
var boardChoices = []string{"boards used again", "boards of sessions", "boards of ended sessions in public", "one board for all sessions"}

// openBoard gives a session its board. The caller holds the lock.
func (s *Server) openBoard(id string) {
	s.said.put("board of "+id, id)
	if s.has("boards used again") {
		s.said.put("board of "+id, cmp.Or(s.said.get("spare board"), id))
		s.said.put("spare board", "")
	}
}

// endBoard takes the board of a session away. The caller holds the lock.
func (s *Server) endBoard(id string) {
	board := s.said.get("board of " + id)
	s.said.put("spare board", board)
	if s.has("boards of ended sessions in public") {
		s.said.add("on public", s.said.get("on "+board))
	}
}

// putOnBoard adds a text to the board of a session.
func (s *Server) putOnBoard(r request, text string) object {
	board := s.said.get("board of " + r.session)
	if s.has("one board for all sessions") {
		board = "public"
	}
	s.said.add("on "+board, text+"\n")
	return s.toolText("done")
}

// board returns the texts that a session sees.
func (s *Server) board(r request) string {
	if s.has(mappedChoices...) {
		return s.said.get("places of " + r.user)
	}
	return s.said.get("on "+s.said.get("board of "+r.session)) + s.said.get("on public")
}
