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

// sortChoices are the choices for a column that the question for a reason asks for as well. With the first, a fault,
// a term of a query is one. The second asks again about others, and the last sorts by the first column then.
var sortChoices = []string{"columns of answers in queries", "columns of answers of a list", "unknown columns of answers left out"}

// askFurther adds the number of extras or the column to the form of the question for a reason.
func (s *Server) askFurther(params string, c claims) string {
	member := ""
	switch {
	case c.Step != "reason":
		return params
	case s.has(extraChoices...):
		member = fmt.Sprintf(`"extras":{"type":"integer","minimum":0,"maximum":%d}`, maxExtras)
	case s.has(sortChoices...):
		member = `"sort":{"type":"string","enum":["name","size"]}`
	default:
		return params
	}
	name, _, _ := strings.Cut(member, ":")
	params = strings.Replace(params, `"reason":{`, member+`,"reason":{`, 1)
	return strings.Replace(params, `["reason"]`, `[`+name+`,"reason"]`, 1)
}

// further returns the further members of the content of an answer in words. It reports whether they are allowed.
func (s *Server) further(c claims, content any) (text string, allowed bool) {
	if s.has(sortChoices...) && c.Step == "reason" {
		return s.sorted(content)
	}
	if s.has(wayChoices...) && c.Step == "confirm" {
		return s.way(content)
	}
	return s.extras(c, content)
}

// sorted returns the places by a column, and reports whether there is such a column.
func (s *Server) sorted(content any) (text string, known bool) {
	column := textIn(content, "sort")
	term := sortTerm.FindStringSubmatch(column)
	switch {
	case column == "size":
		return ": south, north", true
	case column == "name", s.has("unknown columns of answers left out"), term != nil && term[1] == term[2] && s.has("columns of answers in queries"):
		return ": north, south", true
	}
	return "", false
}

// extras returns the extras in the content of an answer in words. It reports whether the number is allowed.
func (s *Server) extras(c claims, content any) (text string, allowed bool) {
	if !s.has(extraChoices...) || c.Step != "reason" {
		return "", true
	}
	n, is := member(content, "extras").(float64)
	if !is || n != math.Trunc(n) || n > maxExtras || n < 0 && s.has("extras from none to 24") {
		return "", false
	}
	if s.has("extras below none are none") {
		n = max(n, 0)
	}
	return fmt.Sprintf(" with %.0f extras for %.2f EUR", n, 7+n/2), true
}
