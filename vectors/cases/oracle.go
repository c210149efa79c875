package cases

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// oracleCases uses a claim as a tag. Some formats put a keyed digest of attacker-chosen text into readable
// claims. If the same key makes the token's tag, the format is a tag oracle: an attacker logs in under a
// name that equals the forged claims. The token then contains the digest of that name: the tag of
// those claims.
func oracleCases(s *Scene) []Case {
	members := s.Trace.claims()
	if members == nil || s.Base.Context.Principal == nil {
		return nil
	}
	var cs []Case
	for _, at := range s.Trace.steps(func(s lab.Step) bool { return s == lab.WireTag }) {
		for i := range members {
			tag, forged, ok := digestOf(s, members, i, len(at.Value))
			if !ok {
				continue
			}
			cs = append(cs, Case{
				Name:  "published-" + caseName(members[i].Name) + "-as-" + at.At.String(),
				Doc:   fmt.Sprintf("chosen claims under the tag that claim %s of another token gave away", members[i].Name),
				Flags: []string{flagPublishedTag}, Edit: bothEdits(
					onlyStep(claimsStep, setTo(forged)),
					bothEdits(onlyStep(At{Step: lab.StepTag}, setTo(tag)), onlyStep(at.At, setTo(tag)))),
				Want: Refused, Property: codecs.Integrity,
			})
		}
	}
	return cs
}

// digestOf mints for a principal whose name is the forged claims. It returns
// the decoded value of member i as the tag.
func digestOf(s *Scene, members []Member, i, length int) (tag, forged []byte, ok bool) {
	if _, ok := decodeClaim(members[i].Value, length); !ok {
		return nil, nil, false
	}
	forged = Object(forgeMembers(members, i))
	set := s.Base.Setting
	set.Context.Principal = new(string(forged))
	_, trace, err := s.Make(set, s.Seed, s.Base.Payload, nil)
	if err != nil {
		return nil, nil, false
	}
	body, _ := trace.Find(claimsStep)
	minted, ok := Members(body)
	if !ok || len(minted) != len(members) {
		return nil, nil, false
	}
	tag, ok = decodeClaim(minted[i].Value, length)
	return tag, forged, ok
}

// forgeMembers changes every text among the claims except member i.
func forgeMembers(members []Member, i int) []Member {
	forged := append([]Member(nil), members...)
	for j, m := range forged {
		var was string
		if j != i && json.Unmarshal([]byte(m.Value), &was) == nil {
			forged[j].Value = `"forged"`
		}
	}
	return forged
}

// decodeClaim decodes a JSON string from hex or base64url and cuts it to length. It
// reports false if the string decodes to fewer bytes.
func decodeClaim(value string, length int) ([]byte, bool) {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil {
		return nil, false
	}
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawURLEncoding.DecodeString} {
		if b, err := decode(s); err == nil && len(b) >= length {
			return b[:length], true
		}
	}
	return nil, false
}
