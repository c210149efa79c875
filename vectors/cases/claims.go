package cases

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sealab/internal/lab"
)

var claimsStep = At{Step: lab.StepClaims}

// claims returns the members of the claims, or nil if there are none.
func (t Trace) claims() []Member {
	text, _ := t.Find(claimsStep)
	if members, ok := Members(text); ok {
		return members
	}
	return nil
}

// claims alters the claims before sealing, one member at a time.
func claims(s *Scene) []Case {
	return claimsBut(s.Trace.claims(), nil)
}

// fewClaims is claims for a format with few vectors.
func fewClaims(s *Scene) []Case {
	cs := claims(s)
	return cs[:min(len(cs), 80)]
}

// addedClaims is claims restricted to members that the default options do not
// have.
func addedClaims(s *Scene) []Case {
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
	return claimsBut(members, trace.claims())
}

// claimsBut alters the members that are not in known.
func claimsBut(members, known []Member) []Case {
	var cs []Case
	for i, m := range members {
		if slices.ContainsFunc(known, func(k Member) bool { return k.Name == m.Name }) {
			continue
		}
		for _, v := range values(m.Value) {
			cs = append(cs, claimsCase(members, m.Name+"-"+v.name, fmt.Sprintf("%s is %s", m.Name, v.doc), func(ms []Member) []Member {
				ms[i].Value = v.text
				return ms
			}))
		}
		for _, r := range rearrangements {
			cs = append(cs, claimsCase(members, m.Name+"-"+r.name, m.Name+" "+r.doc, func(ms []Member) []Member { return r.change(ms, i) }))
		}
	}
	return cs
}

func claimsCase(members []Member, name, doc string, change func([]Member) []Member) Case {
	changed := Object(change(slices.Clone(members)))
	return Case{
		Name: "claim-" + plain(name), Doc: "authentic claims in which " + doc, Flags: []string{flagClaims},
		Edit: onlyStep(claimsStep, setTo(changed)),
	}
}

// value is JSON text that replaces the value of a claim.
type value struct{ name, doc, text string }

// values returns the replacements for the value was.
func values(was string) []value {
	vs := []value{
		{"null", "null", "null"},
		{"true", "true", "true"},
		{"array", "the right value in an array", "[" + was + "]"},
		{"object", "an object", "{}"},
		{"empty", "the empty string", `""`},
	}
	if _, err := strconv.ParseFloat(was, 64); err == nil {
		return append(vs, numbers(was)...)
	}
	return append(vs,
		value{"zero", "0", "0"},
		value{"longer", "one character longer", strings.TrimSuffix(was, `"`) + `x"`},
		value{"upper", "in capitals", strings.ToUpper(was)},
		value{"escaped", "spelled with an escape", escapeFirst(was)},
		value{"surrogate", "a lone surrogate", `"\ud800"`},
		value{"surrogate-letter", "a high surrogate and an escaped letter", `"\ud83d\u0041"`},
		value{"alike-list", "a list with as many items as it has characters", "[" + strings.Repeat("1,", max(len(was)-3, 0)) + "1]"},
		value{"alike-object", "an object with its length", fmt.Sprintf(`{"length":%d}`, len(was)-2)},
	)
}

// numbers returns the replacements for the number was.
func numbers(was string) []value {
	whole, _, _ := strings.Cut(was, ".")
	return []value{
		{"string", "the right number as a string", `"` + was + `"`},
		{"zero", "0", "0"},
		{"minus-zero", "-0", "-0"},
		{"one", "1", "1"},
		{"two", "2", "2"},
		{"negative", "negative", "-" + was},
		{"false", "false", "false"},
		{"whole", "the right number cut to an integer", whole},
		{"point", "the right number written with .0", whole + ".0"},
		{"half", "a half more", whole + ".5"},
		{"exponent", "the right number with an exponent", whole + "e0"},
		{"plus", "one more", plus(whole, 1)},
		{"plus-60", "60 more", plus(whole, 60)},
		{"plus-61", "61 more", plus(whole, 61)},
		{"minus", "one less", plus(whole, -1)},
		{"leading-zero", "written with a leading zero", "0" + was},
		{"leading-plus", "written with a plus sign", "+" + was},
		{"hex", "written in hex", "0x1"},
		{"2-31", "2^31", "2147483648"},
		{"2-53", "2^53+1", "9007199254740993"},
		{"minus-2-53", "-2^53-1", "-9007199254740993"},
		{"2-63", "2^63", "9223372036854775808"},
		{"1e21", "1e21", "1e21"},
		{"1e400", "1e400, which no double holds", "1e400"},
		{"minus-1e400", "-1e400", "-1e400"},
		{"huge", "an integer of 400 digits", "1" + strings.Repeat("0", 400)},
		{"nan", "NaN", "NaN"},
		{"infinity", "Infinity", "Infinity"},
		{"milliseconds", "a thousand times as large", whole + "000"},
	}
}

func plus(whole string, by int64) string {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return "1"
	}
	return strconv.FormatInt(n+by, 10)
}

func escapeFirst(was string) string {
	if len(was) < 3 || was[0] != '"' || was[1] == '\\' {
		return was
	}
	return fmt.Sprintf(`"\u%04x%s`, was[1], was[2:])
}

// rearrangements change the list of members.
var rearrangements = []struct {
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

// undigested reads claims with one empty text in place of the digest of the
// arguments. A faulty reader takes the empty text as the digest of arguments
// that are not JSON. If it compares the two, they agree.
func undigested(s *Scene) []Case {
	members := s.Trace.claims()
	var cs []Case
	for i, m := range members {
		if !strings.HasPrefix(m.Value, `"`) {
			continue
		}
		changed := slices.Clone(members)
		changed[i].Value = `""`
		cs = append(cs, Case{
			Name: "undigested-" + plain(m.Name), Doc: fmt.Sprintf("authentic claims in which %s is empty, read with arguments that are not JSON", m.Name),
			Flags: []string{flagArguments}, Edit: onlyStep(claimsStep, setTo(Object(changed))),
			Read: func(set *Setting) { arguments(`{"env":`)(&set.Context) },
		})
	}
	return cs
}

// unquoted seals claims with a JSON number in place of a text that looks like a
// number. A reader accepts it if it compares literals without their JSON types.
func unquoted(s *Scene) []Case {
	members := s.Trace.claims()
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
			Flags: []string{flagClaims}, Edit: onlyStep(claimsStep, setTo(Object(changed))),
		})
	}
	return cs
}
