package mcp

import (
	"slices"
	"strconv"
	"strings"
)

// shelfChoices are the choices for removals from a list. With faults a removal takes the place in the
// list that the name had when the call began.
var shelfChoices = []string{"shelves by name", "shelves by number", "shelves by number, new ones last"}

// shelf returns the names in the list.
func (s *Server) shelf() []string { return strings.Fields(s.said.get("shelf")) }

// putOnShelf adds a name to the list.
func (s *Server) putOnShelf(name string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := append([]string{name}, s.shelf()...)
	if s.has("shelves by number, new ones last") {
		names = append(names[1:], name)
	}
	s.said.put("shelf", strings.Join(names, " "))
	return s.toolText("done")
}

// noteShelf notes the place of a name in the list.
func (s *Server) noteShelf(name string) {
	s.said.put("place of "+name, strconv.Itoa(slices.Index(s.shelf(), name)))
}

// takeFromShelf removes a name from the list, if there is one, and returns the text that shows the rest.
func (s *Server) takeFromShelf(c *claims) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.shelf()
	at := slices.Index(names, c.Env)
	if !s.has("shelves by name") {
		at, _ = strconv.Atoi(s.said.get("place of " + c.Env))
	}
	if !s.has(shelfChoices...) || at < 0 || at >= len(names) {
		return ""
	}
	c.Env = names[at]
	left := strings.Join(slices.Delete(names, at, at+1), " ")
	s.said.put("shelf", left)
	return ", left: " + left
}
