package mcp

import (
	"net/url"
	"strings"
)

// slipChoices are the choices for slips of a user and a place, which a template reads after a question. With the first
// two, which are faults, a state is good for any place, or any cache may keep a slip for all users.
var slipChoices = []string{"slips of any place", "slips for all caches", "slips"}

// slipsOfPlace is the template of slips.
const slipsOfPlace = "slips://{env}"

// isSlip reports whether a URI names a slip.
func (s *Server) isSlip(uri string) bool {
	place, is := strings.CutPrefix(uri, "slips://")
	place, err := url.PathUnescape(place)
	return is && err == nil && (place == "prod" || place == "test") && s.has(slipChoices...)
}

// readSlip gives a slip after a question.
func (s *Server) readSlip(r request, uri string) (object, *failure) {
	p := r.placed(uri)
	if s.has("slips of any place") {
		p = r.placed("slips")
	}
	return s.round(r, p, uri, []string{"confirm"}, func(claims) object {
		result := s.listed(object{"contents": []object{{"uri": uri, "text": "a slip of " + r.user}}})
		if s.has("slips for all caches") {
			result["ttlMs"], result["cacheScope"] = 60_000, "public"
		}
		return result
	})
}
