package cases

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"sealab/internal/lab"
)

var claimsStep = At{Step: lab.StepClaims}

// claims returns the members of the claims, or nil.
func (t Trace) claims() []Member {
	text, _ := t.Find(claimsStep)
	if members, ok := Members(text); ok {
		return members
	}
	return nil
}

// claimCases alters the claims before sealing, one member at a time.
func claimCases(s *Scene) []Case { return inClaims.each(s.Trace.claims()) }

// addedClaimCases is claimCases restricted to members that the default options do not
// have, or have with a value of another kind.
func addedClaimCases(s *Scene) []Case { return addedMembers(s, nil) }

// fewAddedClaims is addedClaimCases for a format with few vectors.
func fewAddedClaims(s *Scene) []Case { return addedMembers(s, keepFew) }

func addedMembers(s *Scene, keep func(member, change string) bool) []Case {
	members := s.Trace.claims()
	if members == nil {
		return nil
	}
	set := s.Base.Setting
	set.Options = nil
	_, trace, err := s.Make(set, s.Seed, s.Base.Payload, nil)
	if err != nil {
		return nil
	}
	known := trace.claims()
	if known == nil {
		return nil
	}
	alter := inClaims
	alter.keep = func(member, change string) bool {
		if keep != nil && !keep(member, change) {
			return false
		}
		i := slices.IndexFunc(members, func(m Member) bool { return m.Name == member })
		return !slices.ContainsFunc(known, func(k Member) bool { return k.Name == member && valueKind(k) == valueKind(members[i]) })
	}
	return alter.each(members)
}

// valueKind returns the first byte of a member's value, or '0' for any digit.
func valueKind(m Member) byte {
	if '1' <= m.Value[0] && m.Value[0] <= '9' {
		return '0'
	}
	return m.Value[0]
}

// fewChanges are the changes of members in a format with few vectors.
var fewChanges = []string{
	"null", "true", "array", "object", "empty", "missing", "twice", "twice-null-first", "twice-null-last", "capital",
	"zero", "longer", "upper", "escaped", "surrogate", "invalid-utf-8", // of texts
	"string", "negative", "half", "exponent", "minus", "2-53", "2-63", "1e400", "huge", "milliseconds", // of numbers
}

// keepFew reports whether a change is one of a format with few vectors.
func keepFew(_, change string) bool {
	return slices.Contains(fewChanges, change) || strings.HasPrefix(change, "time-") || strings.HasPrefix(change, "json-")
}

// fewClaimCases is claimCases for a format with few vectors. It makes few changes of each member,
// including members of objects within the claims.
func fewClaimCases(s *Scene) []Case {
	few, members := inClaims, s.Trace.claims()
	few.keep = keepFew
	cs := few.each(members)
	for i, m := range members {
		if inner, ok := Members([]byte(m.Value)); ok {
			cs = append(cs, few.within(members, i).each(inner)...)
		}
	}
	return cs
}

// headerCases alters the header in front of a token, as in JOSE formats: base64url of a JSON object. The
// design seals the altered header, so it is authentic.
func headerCases(s *Scene) []Case {
	step := At{Step: lab.StepPrefix}
	prefix, _ := s.Trace.Find(step)
	text, behind, _ := strings.Cut(string(prefix), ".")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	members, ok := Members(raw)
	if err != nil || !ok {
		return nil
	}
	header := alterMembers{step: step, name: "header", doc: "an authentic header", keep: keepFew, whole: func(object []byte) []byte {
		return []byte(base64.RawURLEncoding.EncodeToString(object) + "." + behind)
	}}
	cs := header.each(members)
	for _, m := range []Member{{"zip", `"DEF"`}, {"crit", `["exp"]`}, {"kid", `"1"`}, {"typ", `"JWT"`}, {"x", `"\xff"`}, {"x", `[1,`}} {
		cs = append(cs, header.alter("with-"+caseName(m.Name+"-"+m.Value), fmt.Sprintf("there is a member %s", m.Name), append(slices.Clone(members), m)))
	}
	add := func(name, doc, changed string) {
		cs = append(cs, Case{Name: "header-" + name, Doc: "an authentic header " + doc, Flags: []string{flagClaims}, Edit: onlyStep(step, setTo([]byte(changed)))})
	}
	add("list", "that is a list", base64.RawURLEncoding.EncodeToString([]byte("[]"))+"."+behind)
	add("key", "and an encrypted key behind it", text+".AAAA."+strings.TrimPrefix(behind, "."))
	return append(cs, header.alter("empty", "there is no member", nil))
}

// envelopeCases alters the members of a token that is base64 of a JSON object, after
// authentication.
func envelopeCases(s *Scene) []Case {
	raw, err := base64.StdEncoding.DecodeString(string(s.Token))
	members, ok := Members(raw)
	if err != nil || !ok {
		return nil
	}
	outer := alterMembers{name: "envelope", doc: "a token of base64 JSON", whole: func(object []byte) []byte {
		return []byte(base64.StdEncoding.EncodeToString(object))
	}, keep: func(_, change string) bool {
		return slices.Contains([]string{"null", "true", "array", "object", "zero", "longer", "upper", "surrogate", "missing"}, change)
	}}
	cs := append(outer.each(members), outer.alter("tag-one", "there is a further member tag", append(slices.Clone(members), Member{"tag", "1"})))
	for i := range cs {
		token := cs[i].Edit(outer.step, nil)
		cs[i].Edit, cs[i].Text = nil, setTo(token)
	}
	return cs
}

// cutClaimCases cuts the claims after the name of each member.
func cutClaimCases(s *Scene) []Case {
	members := s.Trace.claims()
	var cs []Case
	for i, m := range members {
		cut := bytes.TrimSuffix(Object(withValue(members[:i+1], i, "")), []byte("}"))
		cs = append(cs, documentCase("end-at-"+caseName(m.Name), " that end at the value of "+m.Name, setTo(cut)))
	}
	return cs
}

// lastMissing omits the last member of the claims.
func lastMissing(s *Scene) []Case {
	members := s.Trace.claims()
	if len(members) == 0 {
		return nil
	}
	n := len(members) - 1
	return []Case{inClaims.alter(members[n].Name+"-missing", members[n].Name+" is missing", members[:n])}
}

// alterMembers makes a case for each change of each member of an object.
type alterMembers struct {
	step  At                               // whose value is altered
	name  string                           // begins the names of the cases
	doc   string                           // begins their descriptions
	keep  func(member, change string) bool // nil keeps all changes except those of documentValues
	path  string                           // path of the object in the claims: "" or ending in "-"
	whole func(object []byte) []byte       // returns the value of the step that contains this object; nil: the object itself
}

var inClaims = alterMembers{step: claimsStep, name: "claim", doc: "authentic claims"}

// within returns alterations of the object in member i.
func (a alterMembers) within(members []Member, i int) alterMembers {
	a.path = members[i].Name + "-"
	a.whole = func(object []byte) []byte { return Object(withValue(members, i, string(object))) }
	return a
}

// withValue returns the members with another value of member i.
func withValue(members []Member, i int, value string) []Member {
	changed := slices.Clone(members)
	changed[i].Value = value
	return changed
}

// alter returns the case in which the object has these members.
func (a alterMembers) alter(name, doc string, members []Member) Case {
	changed := Object(members)
	if a.whole != nil {
		changed = a.whole(changed)
	}
	return Case{Name: a.name + "-" + caseName(a.path+name), Doc: a.doc + " in which " + doc, Flags: []string{flagClaims}, Edit: onlyStep(a.step, setTo(changed))}
}

func (a alterMembers) each(members []Member) []Case {
	var cs []Case
	add := func(m Member, name, doc string, change func([]Member) []Member) {
		if a.keep == nil && !strings.HasPrefix(name, "json-") || a.keep != nil && a.keep(m.Name, name) {
			cs = append(cs, a.alter(m.Name+"-"+name, m.Name+" "+doc, change(slices.Clone(members))))
		}
	}
	for i, m := range members {
		for _, v := range claimReplacements(m.Value) {
			add(m, v.name, "is "+v.doc, func(ms []Member) []Member {
				ms[i].Value = v.text
				return ms
			})
		}
		for _, r := range memberRearrangements {
			add(m, r.name, r.doc, func(ms []Member) []Member { return r.change(ms, i) })
		}
	}
	return cs
}

// memberRearrangements are changes to the list of members.
var memberRearrangements = []struct {
	name, doc string
	change    func(ms []Member, i int) []Member
}{
	{"missing", "is missing", func(ms []Member, i int) []Member { return slices.Delete(ms, i, i+1) }},
	{"twice", "stands there twice", func(ms []Member, i int) []Member { return append(ms, ms[i]) }},
	{"twice-null-first", "stands there twice, null first", func(ms []Member, i int) []Member {
		return slices.Insert(ms, 0, Member{Name: ms[i].Name, Value: "null"})
	}},
	{"twice-null-last", "stands there twice, null last", func(ms []Member, i int) []Member {
		return append(ms, Member{Name: ms[i].Name, Value: "null"})
	}},
	{"capital", "has its name in capitals", func(ms []Member, i int) []Member {
		ms[i].Name = strings.ToUpper(ms[i].Name)
		return ms
	}},
	{"escaped-name", "has its name spelled with an escape", func(ms []Member, i int) []Member {
		ms[i].Name = fmt.Sprintf(`\u%04x%s`, ms[i].Name[0], ms[i].Name[1:])
		return ms
	}},
	{"last", "stands last", func(ms []Member, i int) []Member {
		m := ms[i]
		return append(slices.Delete(ms, i, i+1), m)
	}},
}

// undigestedCases reads claims with an empty text in place of the digest of the arguments. A faulty reader
// may use the empty text as the digest of arguments that are not JSON, so the two would be equal.
func undigestedCases(s *Scene) []Case {
	members := s.Trace.claims()
	var cs []Case
	for i, m := range members {
		if !strings.HasPrefix(m.Value, `"`) {
			continue
		}
		cs = append(cs, Case{
			Name: "undigested-" + caseName(m.Name), Doc: fmt.Sprintf("authentic claims in which %s is empty, read with arguments that are not JSON", m.Name),
			Flags: []string{flagArguments}, Edit: onlyStep(claimsStep, setTo(Object(withValue(members, i, `""`)))),
			Read: func(set *Setting) { setArguments(`{"env":`)(&set.Context) },
		})
	}
	return cs
}

// unquotedCases seals claims with a JSON number in place of a text that looks like a
// number. A reader accepts it if it compares literals without their JSON types.
func unquotedCases(s *Scene) []Case {
	members := s.Trace.claims()
	var cs []Case
	for i, m := range members {
		digits := strings.Trim(m.Value, `"`)
		if digits == m.Value || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		cs = append(cs, Case{
			Name: "unquoted-" + caseName(m.Name), Doc: fmt.Sprintf("authentic claims in which %s is a number and not a text", m.Name),
			Flags: []string{flagClaims}, Edit: onlyStep(claimsStep, setTo(Object(withValue(members, i, digits)))),
		})
	}
	return cs
}
