package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// wishChoices are the choices for a removal whose only question is a tone that may be left out: to decline it means to have
// no wish. With the first two, which are faults, a wish counts although it is declined, or of any kind.
var wishChoices = []string{"declined wishes taken", "wishes of any kind", "wishes"}

// wish tells the tone that a user wishes, or returns "".
func (s *Server) wish(r request) string {
	var answer struct {
		Action  string
		Content struct{ Tone string }
	}
	_ = json.Unmarshal([]byte(answerText(r, "tone")), &answer) // it has been judged, or is empty
	known := answer.Content.Tone == "plain" || answer.Content.Tone == "warm"
	if answer.Content.Tone == "" || !known && !s.has("wishes of any kind") || answer.Action != "accept" && !s.has("declined wishes taken") {
		return ""
	}
	return " in a " + answer.Content.Tone + " tone"
}

// feeChoices are the choices for results that tell a fee. Under the first, which is a fault, an answer may
// have a member that replaces the fee; under the last, they tell the answer as well.
var feeChoices = []string{"fees of answers", "fees told", "fees and answers told"}

// fee returns the part of a result about the fee, or "" if the text before it has one.
func (s *Server) fee(env string, content any) string {
	if !s.has(feeChoices...) || strings.Contains(env, " EUR") {
		return ""
	}
	fee, told := 7.0, ""
	if n, is := member(content, "fee").(float64); is && s.has("fees of answers") {
		fee = n
	}
	if s.has("fees and answers told") {
		raw, _ := json.Marshal(content) // it was read from JSON
		told = " as you said " + string(raw)
	}
	return fmt.Sprintf(", that is %.2f EUR%s", fee, told)
}

// dumpChoices are the choices for the errors about a reason that is no text. Only the first is a fault: it prints
// the whole state. The others print the answers so far, or the form.
var dumpChoices = []string{"states in errors about answers", "answers in errors about answers", "forms in errors about answers"}

// dumpOf returns the error about a reason that is no text, or "".
func (s *Server) dumpOf(c claims, content any) string {
	reason := member(content, "reason")
	if _, isText := reason.(string); c.Step != "reason" || isText || reason == nil || !s.has(dumpChoices...) {
		return ""
	}
	env, note, _ := strings.Cut(c.Env, ", ")
	switch {
	case s.has(dumpChoices[0]):
		raw, _ := json.Marshal(map[string]any{"env": env, "note": note, "approver": "Ines, 555-0134"}) // it always encodes
		return fmt.Sprintf("reason: no text in %s", raw)
	case s.has(dumpChoices[1]):
		return fmt.Sprintf("reason: no text in {'env': '%s', 'note': '%s', 'reason': %v}", env, note, reason)
	}
	return "reason: no text: " + formsByStep["reason"]
}

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

// levelChoices are the choices for reasons that are offered only to the office and told in the result. The
// first, a fault, takes them from anybody. The second asks other users again, the third takes the usual
// reason instead, and the last refuses in a result.
var levelChoices = []string{"reasons of the office taken from anybody", "reasons of the office", "reasons of the office replaced", "reasons of the office refused"}

// offeredReasons returns the parameters of a question with the reasons that its user may give.
func (s *Server) offeredReasons(params, user string) string {
	if user == officeUser || !s.has(levelChoices...) {
		return params
	}
	return strings.Replace(params, `,{"const":"need","title":"Needed"}`, "", 1)
}

// mayGive reports whether a user may give a reason.
func (s *Server) mayGive(user string, content any) bool {
	return member(content, "reason") != "need" || user == officeUser || !s.has("reasons of the office")
}

// toldReason returns the reason of a call for its result, or "".
func (s *Server) toldReason(user string, content any) string {
	reason := textIn(content, "reason")
	switch {
	case reason == "" || !s.has(levelChoices...):
		return ""
	case reason == "need" && user != officeUser && s.has("reasons of the office replaced"):
		reason = "plan"
	case reason == "need" && user != officeUser && s.has("reasons of the office refused"):
		return " not allowed: need is for the office"
	}
	return " by " + reason
}

// memberChoices are the choices for a member of a team that the question for a reason asks for as well, and
// whose name and floor the result tells. The form lists the members of the own team. The first, a fault, takes
// any known member. The second asks again about others, the third refuses them in the result, and the last
// answers others as it does unknown ones.
var memberChoices = []string{"members of any team", "members of own teams", "members of own teams refused", "members of own teams left out"}

// teamMembers are the members of each user's team, and what the results tell about them.
var teamMembers = map[string][][2]string{
	"alice": {{"m-11", "Ada Young on floor two"}, {"m-12", "Ben Stone on floor six"}},
	"bob":   {{"m-21", "Cleo Marsh on floor one"}, {"m-22", "Dan Fox on floor nine"}},
}

// memberNumbers returns the numbers of the members of a user's team.
func memberNumbers(user string) (all []string) {
	for _, m := range teamMembers[user] {
		all = append(all, m[0])
	}
	return all
}

// offeredMembers returns the parameters of a question with the members that its user may choose.
func (s *Server) offeredMembers(params, user string, c claims) string {
	if c.Step != "reason" || !s.has(memberChoices...) || len(teamMembers[user]) == 0 {
		return params
	}
	params = strings.Replace(params, `"reason":{`, `"member":{"type":"string","enum":["`+strings.Join(memberNumbers(user), `","`)+`"]},"reason":{`, 1)
	return strings.Replace(params, `["reason"]`, `["reason","member"]`, 1)
}

// mayChoose reports whether a user may choose the member in an answer.
func (s *Server) mayChoose(user string, content any) bool {
	number, given := member(content, "member").(string)
	switch own := slices.Contains(memberNumbers(user), number); {
	case member(content, "reason") == nil || !s.has(memberChoices...):
		return true // another form
	case s.has("members of any team"):
		return memberName(number) != ""
	case s.has("members of own teams"):
		return own
	}
	return given
}

// memberName returns what results tell about a member, or "".
func memberName(number string) string {
	for _, team := range teamMembers {
		for _, m := range team {
			if m[0] == number {
				return m[1]
			}
		}
	}
	return ""
}

// toldMember returns the member of a call for its result, or "".
func (s *Server) toldMember(user string, content any) string {
	number, given := member(content, "member").(string)
	own := slices.Contains(memberNumbers(user), number)
	switch {
	case !given || !s.has(memberChoices...):
		return ""
	case !own && s.has("members of own teams refused"):
		return " not allowed: " + number + " is not in your team"
	case !own && s.has("members of own teams left out"):
		return " for " + number + ", that is nobody known on floor none"
	}
	return " for " + number + ", that is " + memberName(number)
}

// potChoices are the choices for calls that ask for two pots beside each question, in two forms or in
// one. With faults the pots are taken in the order of their answers, or of the members of the form.
var potChoices = []string{"pots by answers", "pots by the order of answers", "pots by members", "pots by the order of members", "pots listed"}

// askForPots adds the questions for the two pots.
func (s *Server) askForPots(questions object) {
	ask := func(key string, names ...string) {
		properties := object{}
		for _, name := range names {
			properties[name] = object{"type": "string", "enum": []string{"gifts", "house"}}
		}
		schema := object{"type": "object", "properties": properties, "required": names}
		questions[key] = object{"method": "elicitation/create", "params": object{"mode": "form", "message": "Which pot is the " + key + "?", "requestedSchema": schema}}
	}
	if s.has("pots by members", "pots by the order of members") {
		ask("pair", "source", "target")
		return
	}
	ask("source", "pot")
	ask("target", "pot")
}

// pots returns the pots of a call in words, and whether both are known.
func (s *Server) pots(r request, responses map[string]map[string]any) (text string, known bool) {
	pot := func(key, name string) any {
		if pot := member(responses[key]["content"], name); responses[key]["action"] == "accept" && (pot == "gifts" || pot == "house") {
			return pot
		}
		return nil
	}
	source, target := pot("source", "pot"), pot("target", "pot")
	if s.has("pots by members", "pots by the order of members") {
		source, target = pot("pair", "source"), pot("pair", "target")
	}
	raw := r.params["inputResponses"]
	if bytes.Index(raw, []byte(`"source"`)) > bytes.Index(raw, []byte(`"target"`)) && s.has("pots by the order of answers", "pots by the order of members", "pots listed") {
		source, target = target, source
	}
	switch {
	case !s.has(potChoices...):
		return "", true
	case s.has("pots listed"): // not a fault
		return fmt.Sprintf(" (%v, %v)", source, target), source != nil && target != nil
	}
	return fmt.Sprintf(" from %v to %v", source, target), source != nil && target != nil
}
