package cases

import (
	"fmt"
	"slices"
	"strings"

	"sealab/vectors/kit"
)

// unquoted seals claims in which a text that is a number is one in JSON too: a
// reader that compares literals and not kinds takes it for the text.
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
