package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// wayChoices are the choices for a way that removals ask for as well. With the first four, which are faults, one
// of the listed ways is enough: in a list, in an object, in a text or in a line of it. The next three are sound:
// they take a list of one, the first of a list, or the listed ones, and with the last two the result tells the
// answer as well.
var wayChoices = []string{"ways of lists", "ways of objects", "ways in texts", "ways in lines", "ways one by one", "the first of the ways", "listed ways alone", "other ways told", "ways as they were said"}

var listedWays = []string{"mail", "web"}

// askForWay adds the way to the form of a confirmation.
func (s *Server) askForWay(params string, c claims) string {
	if c.Step != "confirm" || !s.has(wayChoices...) {
		return params
	}
	params = strings.Replace(params, `"ok":{`, `"way":{"type":"string","enum":["mail","web"]},"ok":{`, 1)
	return strings.Replace(params, `["ok"]`, `["ok","way"]`, 1)
}

// way returns the way in the content of an answer in words, and reports whether there is one.
func (s *Server) way(content any) (text string, known bool) {
	said := member(content, "way")
	given := s.waysIn(said)
	var listed, others []string
	for _, way := range given {
		if slices.Contains(listedWays, way) {
			listed = append(listed, way)
		} else {
			others = append(others, way)
		}
	}
	switch raw, _ := json.Marshal(said); { // it was read from JSON
	case len(listed) == 0:
		return "", false
	case s.has("ways one by one"):
		return " by " + listed[0], len(given) == 1
	case s.has("the first of the ways"):
		return " by " + given[0], slices.Contains(listedWays, given[0])
	case s.has("listed ways alone"):
		return " by " + strings.Join(listed, ", "), true
	case s.has("other ways told"):
		return fmt.Sprintf(" by %s, not by %s", listed[0], strings.Join(others, ", ")), true
	case s.has("ways as they were said"):
		return fmt.Sprintf(" by %s: you said %s", listed[0], raw), true
	}
	return " by " + strings.Join(given, " and "), true
}

// waysIn returns the ways in an answer.
func (s *Server) waysIn(v any) (all []string) {
	switch v := v.(type) {
	case string:
		switch {
		case s.has("ways in texts"):
			return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" ,;", r) })
		case s.has("ways in lines"):
			return strings.Split(v, "\n")
		}
		return []string{v}
	case []any:
		if s.has("ways of objects", "ways in texts", "ways in lines") {
			return nil
		}
		for _, item := range v {
			text, _ := item.(string)
			all = append(all, text)
		}
	case map[string]any:
		for _, item := range v {
			if text, is := item.(string); is && s.has("ways of objects") {
				all = append(all, text)
			}
		}
		slices.Sort(all)
	}
	return all
}
