package mcp

import (
	"encoding/json"
	"fmt"
)

// bidChoices are the choices for removals whose place is bid for: each bid must be higher than the last. The
// first is a fault: an answer replaces the amount of the bid. The others ignore it, or repeat what they got.
var bidChoices = []string{"answers override bids", "bids", "bids with remarks"}

// bid makes the bid of a call. It returns the bid in words, and whether it is the highest.
func (s *Server) bid(r request, content any) (text string, highest bool) {
	var given struct{ Amount int }
	_ = json.Unmarshal(r.placed("remove").arguments, &given) // empty if it is of another type
	if given.Amount == 0 || !s.has(bidChoices...) {
		return "", true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var last int
	_, _ = fmt.Sscan(s.said.get("highest bid"), &last) // none at first
	if given.Amount <= last {
		return "", false
	}
	s.said.put("highest bid", fmt.Sprint(given.Amount))
	if other, ok := member(content, "amount").(float64); ok && s.has("answers override bids") {
		given.Amount = int(other)
	}
	text = fmt.Sprintf(" for %d EUR", given.Amount)
	if s.has("bids with remarks") {
		for _, name := range []string{"amount", "sealab_member"} {
			if v := member(content, name); v != nil {
				text += fmt.Sprintf(" (%v)", v)
			}
		}
	}
	return text, true
}
