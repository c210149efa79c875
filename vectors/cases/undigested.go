package cases

import (
	"fmt"
	"slices"
	"strings"

	"sealab/vectors/kit"
)

// undigested reads claims with one empty text where the arguments have no
// digest: a reader that takes the digest of what is no JSON for nothing finds
// the nothing in the claims, and agrees.
func undigested(s *Scene) []Case {
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
		if !strings.HasPrefix(m.Value, `"`) {
			continue
		}
		changed := slices.Clone(members)
		changed[i].Value = `""`
		cs = append(cs, Case{
			Name: "undigested-" + plain(m.Name), Doc: fmt.Sprintf("authentic claims in which %s is empty, read with arguments that are not JSON", m.Name),
			Flags: []string{flagArguments}, Edit: kit.Only(claimsStep, kit.Set(kit.Object(changed))),
			Read: func(set *kit.Setting) { arguments(`{"env":`)(&set.Context) },
		})
	}
	return cs
}
