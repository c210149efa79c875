package mcp

import "cmp"

// boardChoices are the choices for boards that sessions keep. Only the first is a fault: a new session
// gets the board of the latest one that ended.
var boardChoices = []string{"boards used again", "boards of sessions", "boards of ended sessions in public", "one board for all sessions"}

// openBoard gives a session its board. The caller holds the lock.
func (s *Server) openBoard(id string) {
	s.said["board of "+id] = id
	if s.has("boards used again") {
		s.said["board of "+id] = cmp.Or(s.said["spare board"], id)
		s.said["spare board"] = ""
	}
}

// endBoard takes the board of a session away. The caller holds the lock.
func (s *Server) endBoard(id string) {
	s.said["spare board"] = s.said["board of "+id]
	if s.has("boards of ended sessions in public") {
		s.said["on public"] += s.said["on "+s.said["board of "+id]]
	}
}

// putOnBoard adds a text to the board of a session.
func (s *Server) putOnBoard(r request, text string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	board := s.said["board of "+r.session]
	if s.has("one board for all sessions") {
		board = "public"
	}
	s.said["on "+board] += text + "\n"
	return s.toolText("done")
}

// board returns the texts that a session sees.
func (s *Server) board(r request) string {
	if s.has(mappedChoices...) {
		return s.keptPlaces(r.user)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said["on "+s.said["board of "+r.session]] + s.said["on public"]
}
