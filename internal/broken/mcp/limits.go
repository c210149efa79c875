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

// giveBack gives back what a call that is refused has set aside.
func (s *Server) giveBack(r request, c claims) {
	if !s.has(giveBackChoices...) || s.has("refusals give back once") && s.said.add("given back "+c.ID, "x") != "x" {
		return
	}
	s.said.change("spent by "+r.user, func(old string) string {
		spent, _ := strconv.Atoi(old) // "" is 0
		return strconv.Itoa(spent - amountOf(r))
	})
}

// amountOf returns the amount of a transfer.
func amountOf(r request) int {
	var given struct{ Amount int }
	_ = json.Unmarshal(r.params["arguments"], &given) // validated before, or 0
	return given.Amount
}

// left tells what a user may still transfer.
func (s *Server) left(r request) object {
	spent, _ := strconv.Atoi(s.said.get("spent by " + r.user)) // "" is 0
	return s.toolText("%d of %d EUR are left", transferLimit-spent, transferLimit)
}

// transferLimit is the sum of all transfers of a user.
const transferLimit = 500

// transfer transfers an amount after a confirmation.
func (s *Server) transfer(r request) (object, *failure) {
	amount := amountOf(r)
	spend := func(as string) bool {
		fits := true
		s.said.change(as+r.user, func(old string) string {
			spent, _ := strconv.Atoi(old) // "" is 0
			if fits = spent+amount <= transferLimit; fits {
				spent += amount
			}
			return strconv.Itoa(spent)
		})
		return fits
	}
	spent, _ := strconv.Atoi(s.said.get("spent by " + r.user)) // "" is 0
	refusal := s.toolError("more than you can transfer")
	switch first := r.params["requestState"] == nil; {
	case amount > transferLimit, spent+amount > transferLimit && !s.has("limits of single calls") && (first || s.has("limits")):
		return refusal, nil
	case first && s.has("limits count open calls") && !spend("reserved by "), first && s.has(giveBackChoices...) && !spend("spent by "):
		return refusal, nil
	}
	return s.round(r, r.placed("transfer"), fmt.Sprint(amount), []string{"confirm"}, func(claims) object {
		switch {
		case s.has("limits of single calls", "limits count open calls"), s.has(giveBackChoices...):
		case spend("spent by "):
		case s.has("limits"):
			return refusal
		default:
			s.said.put("spent by "+r.user, strconv.Itoa(spent+amount))
		}
		return s.toolText("transferred")
	})
}
