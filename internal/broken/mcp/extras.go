package mcp

import (
	"fmt"
	"math"
	"strings"
)

// extraChoices are the choices for a number of extras that the question for a reason asks for as well, and that
// the result charges. With the first, a fault, the number may be less than none. The others take it for none, or
// ask again.
var extraChoices = []string{"extras without a minimum", "extras below none are none", "extras from none to 24"}

// maxExtras is the largest number of extras.
const maxExtras = 24

// askForExtras adds the number of extras to the form of the question for a reason.
func (s *Server) askForExtras(params string, c claims) string {
	if !s.has(extraChoices...) || c.Step != "reason" {
		return params
	}
	params = strings.Replace(params, `"reason":{`, fmt.Sprintf(`"extras":{"type":"integer","minimum":0,"maximum":%d},"reason":{`, maxExtras), 1)
	return strings.Replace(params, `["reason"]`, `["extras","reason"]`, 1)
}

// extras returns the extras in the content of an answer in words. It reports whether the number is allowed.
func (s *Server) extras(c claims, content any) (text string, allowed bool) {
	if !s.has(extraChoices...) || c.Step != "reason" {
		return "", true
	}
	m, _ := content.(map[string]any)
	n, is := m["extras"].(float64)
	if !is || n != math.Trunc(n) || n > maxExtras || n < 0 && s.has("extras from none to 24") {
		return "", false
	}
	if s.has("extras below none are none") {
		n = max(n, 0)
	}
	return fmt.Sprintf(" with %.0f extras for %.2f EUR", n, 7+n/2), true
}
