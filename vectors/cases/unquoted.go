package cases

import (
	"fmt"
	"slices"
	"strings"

	"sealab/vectors/kit"
)

// unquoted seals claims with a JSON number in place of a text that looks like a
// number. A reader accepts it if it compares literals without their JSON types.
func unquoted(s *Scene) []Case {
	body, ok := s.Trace.Find(claimsStep)
	if !ok {
		return nil
	}
	members, ok := kit.Members(body)
	if !ok {
		return nil
	}
	var cs []Case
	for i, m := range members {
		digits := strings.Trim(m.Value, `"`)
		if digits == m.Value || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		changed := slices.Clone(members)
		changed[i].Value = digits
		cs = append(cs, Case{
			Name: "unquoted-" + plain(m.Name), Doc: fmt.Sprintf("authentic claims in which %s is a number and not a text", m.Name),
			Flags: []string{flagClaims}, Edit: kit.Only(claimsStep, kit.Set(kit.Object(changed))),
		})
	}
	return cs
}
