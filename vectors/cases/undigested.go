package cases

import (
	"fmt"
	"slices"
	"strings"

	"sealab/vectors/kit"
)

// undigested reads claims with one empty text in place of the digest of the
// arguments. A faulty reader takes the empty text as the digest of arguments
// that are not JSON. If it compares the two, they agree.
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
