package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// meetingTime is the time for which a call waits for others with a fault.
const meetingTime = 60 * time.Millisecond

// meet waits for other calls at the same time, with a fault. Calls that are alone go on after a while.
func (s *Server) meet(r request, fault string) {
	if !s.has(fault) {
		return
	}
	select {
	case s.meeting <- struct{}{}:
	case <-s.meeting:
	case <-time.After(meetingTime):
	case <-r.context.Done():
	}
}

// counted counts a call and returns the number of calls as a text. With a fault the number is read
// before others have written it.
func (s *Server) counted(r request) string {
	if s.has(openOrders) {
		return fmt.Sprintf(" (%d)", s.closedOrder(r))
	}
	if !s.has("counts", "counts read before they are written") { // the first is sound
		return ""
	}
	n := s.carried.Add(1)
	if s.has("counts read before they are written") {
		s.carried.Add(-1)
		n = s.carried.Load() + 1
		s.meet(r, "counts read before they are written")
		s.carried.Store(n)
	}
	return fmt.Sprintf(" (%d)", n)
}

// isSpent counts a call, and reports whether it is over those that the account of its user is good for,
// which is no fault.
func (s *Server) isSpent(r request) bool {
	for _, fault := range s.faults {
		var calls int
		if _, err := fmt.Sscanf(fault, "accounts for %d calls", &calls); err == nil {
			return len(s.said.add("spent by "+r.user, "x")) > calls
		}
	}
	return false
}

// openOrders is the choice for a number of each order, which calls of one user with the same arguments share
// until one is carried out. It is not a fault.
const openOrders = "open calls are one order"

// openOrder opens an order for a call, unless one is open.
func (s *Server) openOrder(r request) {
	if !s.has(openOrders) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := "order " + r.user + string(r.params["arguments"]); s.said.get(key) == "" {
		s.said.put(key, fmt.Sprint(s.carried.Add(1)))
	}
}

// closedOrder closes the order of a call and returns its number. It returns that of the last order if none is open.
func (s *Server) closedOrder(r request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := "order " + r.user + string(r.params["arguments"])
	if open := s.said.get(key); open != "" {
		s.said.put("closed "+key, open)
		s.said.put(key, "")
	}
	n, _ := strconv.Atoi(s.said.get("closed " + key)) // our own number
	return n
}

// deploy returns the result of a deployment.
func (s *Server) deploy(r request, c claims) object {
	s.Runs.Add(1)
	if s.isSpent(r) {
		return s.toolError("the account is empty")
	}
	s.said.put("deployed "+c.Env, "deployed")
	s.keepPlace(r.user, c.Env)
	if s.has("one receipt for each user") {
		return s.userReceipt(r.user)
	}
	if s.has(pagedChoices...) {
		return pageOf(s.handleOfPage(r.user), "the first notice of "+r.user)
	}
	return object{"content": textContent("deployed to %s%s%s", c.Env, s.counted(r), s.noise())}
}

// pagedChoices are the choices for results in pages, of which the tool notices gives the later ones. With the
// first, a fault, it gives them to anybody.
var pagedChoices = []string{"pages of results for anybody", "pages of results for their user"}

// pageOf returns a page of notices with the cursor of the next one, or "".
func pageOf(next, notice string) object {
	page := object{"notices": []string{notice}}
	if next != "" {
		page["nextCursor"] = next
	}
	raw, _ := json.Marshal(page) // encoding these types does not fail
	return object{"content": textContent("%s", raw), "structuredContent": page}
}

// laterNotices returns the last page of the notices of a user.
func (s *Server) laterNotices(r request, cursor string) object {
	owner := s.ownerOfPage(cursor)
	if owner == "" || owner != r.user && !s.has("pages of results for anybody") {
		return s.toolError("unknown cursor")
	}
	return s.complete(pageOf("", "the last notice of "+owner))
}

// userReceipt returns the only result of a user, with a random word. Later calls of the user do nothing else.
// This is not a fault.
func (s *Server) userReceipt(user string) object {
	receipt := s.said.first("receipt of "+user, fmt.Sprintf("%X", randomBytes(5)))
	return s.toolText("deployed for %s, receipt %s", user, receipt)
}
