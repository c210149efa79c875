package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// limitChoices are the choices for the tool transfer, of which each user has a limit. Only the first is a fault: it
// looks at the limit when the call begins. The second looks at it in each round, the third counts calls that wait,
// and the last one limits each call alone.
var limitChoices = []string{"limits looked at once", "limits", "limits count open calls", "limits of single calls"}

// giveBackChoices are the choices for transfers that set their amount aside until the last answer; the tool left tells
// what is left. With the first, a fault, each refusal gives the amount back.
var giveBackChoices = []string{"refusals give back each time", "refusals give back once"}

// transferLimit is the sum of all transfers of a user.
const transferLimit = 500

// amountOf returns the amount of a transfer.
func amountOf(r request) int {
	var given struct{ Amount int }
	_ = json.Unmarshal(r.params["arguments"], &given) // validated before, or 0
	return given.Amount
}

// transferred is the key of the sum that a user has transferred.
func transferred(r request) string { return "transferred by " + r.user }

// addTo adds to a sum and returns it.
func (s *Server) addTo(key string, n int) int {
	sum, _ := strconv.Atoi(s.said.change(key, func(old string) string {
		before, _ := strconv.Atoi(old) // "" is 0
		return strconv.Itoa(before + n)
	}))
	return sum
}

// spend adds the amount of a transfer to a sum, unless that passes the limit.
func (s *Server) spend(key string, r request) bool {
	if s.addTo(key, amountOf(r)) <= transferLimit {
		return true
	}
	s.addTo(key, -amountOf(r))
	return false
}

// giveBack gives back what a call that is refused has set aside.
func (s *Server) giveBack(r request, c claims) {
	if s.has(giveBackChoices...) && !(s.has("refusals give back once") && s.said.add("given back "+c.ID, "x") != "x") {
		s.addTo(transferred(r), -amountOf(r))
	}
}

// left tells what a user may still transfer.
func (s *Server) left(r request) object {
	return s.toolText("%d of %d EUR are left", transferLimit-s.addTo(transferred(r), 0), transferLimit)
}

// transfer transfers an amount after a confirmation.
func (s *Server) transfer(r request) (object, *failure) {
	amount, refusal := amountOf(r), s.toolError("more than you can transfer")
	passes := amount+s.addTo(transferred(r), 0) > transferLimit
	switch first := r.params["requestState"] == nil; {
	case amount > transferLimit, passes && !s.has("limits of single calls") && (first || s.has("limits")),
		first && s.has("limits count open calls") && !s.spend("reserved by "+r.user, r),
		first && s.has(giveBackChoices...) && !s.spend(transferred(r), r):
		return refusal, nil
	}
	return s.round(r, r.placed("transfer"), fmt.Sprint(amount), []string{"confirm"}, func(claims) object {
		switch {
		case s.has("limits of single calls", "limits count open calls"), s.has(giveBackChoices...):
		case s.has("limits looked at once"):
			s.addTo(transferred(r), amount)
		case !s.spend(transferred(r), r):
			return refusal
		}
		return s.toolText("transferred")
	})
}
