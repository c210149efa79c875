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

// transferLimit is the sum of all transfers of a user.
const transferLimit = 500

// transfer transfers an amount after a confirmation.
func (s *Server) transfer(r request) (object, *failure) {
	var given struct{ Amount int }
	_ = json.Unmarshal(r.params["arguments"], &given) // validated before
	spend := func(as string) bool {
		fits := true
		s.said.change(as+r.user, func(old string) string {
			spent, _ := strconv.Atoi(old) // "" is 0
			if fits = spent+given.Amount <= transferLimit; fits {
				spent += given.Amount
			}
			return strconv.Itoa(spent)
		})
		return fits
	}
	spent, _ := strconv.Atoi(s.said.get("spent by " + r.user)) // "" is 0
	refusal := s.toolError("more than you can transfer")
	switch first := r.params["requestState"] == nil; {
	case given.Amount > transferLimit, spent+given.Amount > transferLimit && !s.has("limits of single calls") && (first || s.has("limits")):
		return refusal, nil
	case first && s.has("limits count open calls") && !spend("reserved by "):
		return refusal, nil
	}
	return s.round(r, r.placed("transfer"), fmt.Sprint(given.Amount), []string{"confirm"}, func(claims) object {
		switch {
		case s.has("limits of single calls", "limits count open calls"):
		case spend("spent by "):
		case s.has("limits"):
			return refusal
		default:
			s.said.put("spent by "+r.user, strconv.Itoa(spent+given.Amount))
		}
		return s.toolText("transferred")
	})
}
