package mcp

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// editChoices are the choices for texts that the tool remove publishes and the tool edit changes. Only the
// first is a fault: a change after the question is published as well.
var editChoices = []string{"texts as they are", "texts as they were", "changed texts refused"}

// edit changes the text of a place.
func (s *Server) edit(env, text string) object {
	s.said.put("text of "+env, text)
	return s.toolText("done")
}

// published returns the result of a call that publishes the text that its question showed.
func (s *Server) published(c claims) object {
	text := s.said.get("text of " + c.Env)
	switch {
	case text != c.Past && s.has("changed texts refused"):
		return s.toolError("the text has changed")
	case s.has("texts as they were"):
		text = c.Past
	}
	return s.toolText("published for %s: %s", c.Env, text)
}

// resolvedChoices are the choices for places that are paths without "..". With the first, a fault, a removal resolves
// escapes after its question. The second resolves them at once, and the last one never.
var resolvedChoices = []string{"paths resolved late", "paths resolved at once", "paths never resolved"}

// resolved returns the path that a text with escapes leads to.
func resolved(text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return path.Clean(decoded)
}

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
	case s.has("paths resolved late"):
		return resolved(kept)
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
