package mcp

import (
	"slices"
	"strings"
)

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
