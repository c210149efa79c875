package cases

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
	return inClaims.each(s.Trace.claims())
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
	known := trace.claims()
	added := inClaims
	added.keep = func(member, _ string) bool {
		return !slices.ContainsFunc(known, func(k Member) bool { return k.Name == member })
	}
	return added.each(members)
}

// fewChanges are the changes of members in a format with few vectors.
var fewChanges = []string{
	"null", "true", "array", "object", "empty", "missing", "twice", "twice-null-first", "twice-null-last",
	"zero", "longer", "upper", "escaped", "surrogate", // of texts
	"string", "negative", "half", "exponent", "minus", "2-53", "2-63", "1e400", "huge", "milliseconds", // of numbers
}

// keepFew reports whether a change is one of a format with few vectors.
func keepFew(_, change string) bool {
	return slices.Contains(fewChanges, change) || strings.HasPrefix(change, "time-")
}

// fewClaims is claims for a format with few vectors: it makes few changes of each
// member, also of the members of objects in the claims.
func fewClaims(s *Scene) []Case {
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

// headers alters the header of a token that has one in front, as JOSE formats do: base64url
// of a JSON object. It is authentic: the design seals it.
func headers(s *Scene) []Case {
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
		cs = append(cs, header.alter("with-"+plain(m.Name+"-"+m.Value), fmt.Sprintf("there is a member %s", m.Name), append(slices.Clone(members), m)))
	}
	return append(cs, header.alter("empty", "there is no member", nil))
}

// alterMembers makes a case of each change of each member of an object.
type alterMembers struct {
	step  At                               // whose value is altered
	name  string                           // begins the names of the cases
	doc   string                           // begins their descriptions
	keep  func(member, change string) bool // nil: each
	path  string                           // of the object in the claims, "" or ending in "-"
	whole func(object []byte) []byte       // returns the value of the step with this object; nil: the object itself
}

var inClaims = alterMembers{step: claimsStep, name: "claim", doc: "authentic claims"}

// within returns the alterations of the object that is the value of a member.
func (a alterMembers) within(members []Member, i int) alterMembers {
	a.path = members[i].Name + "-"
	a.whole = func(object []byte) []byte {
		changed := slices.Clone(members)
		changed[i].Value = string(object)
		return Object(changed)
	}
	return a
}

// alter returns the case of an object with these members.
func (a alterMembers) alter(name, doc string, members []Member) Case {
	changed := Object(members)
	if a.whole != nil {
		changed = a.whole(changed)
	}
	return Case{Name: a.name + "-" + plain(a.path+name), Doc: a.doc + " in which " + doc, Flags: []string{flagClaims}, Edit: onlyStep(a.step, setTo(changed))}
}

func (a alterMembers) each(members []Member) []Case {
	var cs []Case
	add := func(m Member, name, doc string, change func([]Member) []Member) {
		if a.keep == nil || a.keep(m.Name, name) {
			cs = append(cs, a.alter(m.Name+"-"+name, m.Name+" "+doc, change(slices.Clone(members))))
		}
	}
	for i, m := range members {
		for _, v := range values(m.Value) {
			add(m, v.name, "is "+v.doc, func(ms []Member) []Member {
				ms[i].Value = v.text
				return ms
			})
		}
		for _, r := range rearrangements {
			add(m, r.name, r.doc, func(ms []Member) []Member { return r.change(ms, i) })
		}
	}
	return cs
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
	if at, err := time.Parse(time.RFC3339, strings.Trim(was, `"`)); err == nil {
		vs = append(vs, times8601(at)...)
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

// times8601 returns the replacements for a time in the form of ISO 8601.
func times8601(at time.Time) []value {
	year, month, day, clock := at.Format("2006"), at.Format("2006-01"), at.Format("2006-01-02"), at.Format("15:04:05")
	var vs []value
	for _, v := range []struct{ name, doc, text string }{
		{"day", "a day without a time", day},
		{"space", "written with a space for T", day + " " + clock + "Z"},
		{"small", "written in small letters", day + "t" + clock + "z"},
		{"local", "without a zone", day + "T" + clock},
		{"month-0", "in month 0", year + "-00-01T" + clock + "Z"},
		{"month-13", "in month 13", year + "-13-01T" + clock + "Z"},
		{"day-0", "on day 0", month + "-00T" + clock + "Z"},
		{"day-31", "on day 31 of a month of 30 days", year + "-11-31T" + clock + "Z"},
		{"day-32", "on day 32", month + "-32T" + clock + "Z"},
		{"hour-24", "at 24:00:00", day + "T24:00:00Z"},
		{"hour-24-second", "at 24:00:01", day + "T24:00:01Z"},
		{"hour-25", "at 25:00:00", day + "T25:00:00Z"},
		{"minute-60", "in minute 60", day + "T23:60:00Z"},
		{"second-60", "in second 60", day + "T23:59:60Z"},
		{"second-61", "in second 61", day + "T23:59:61Z"},
		{"fraction", "with a fraction of ten digits", day + "T" + clock + ".0000000001Z"},
		{"point", "with a point and no fraction", day + "T" + clock + ".Z"},
		{"zone", "in a zone", at.In(time.FixedZone("", 2*3600)).Format(time.RFC3339)},
		{"zone-minutes", "in a zone without a colon", at.In(time.FixedZone("", -9000)).Format("2006-01-02T15:04:05-0700")},
		{"zone-24", "in a zone of 24 hours", day + "T" + clock + "+24:00"},
		{"zone-26", "in a zone of 26 hours before", day + "T" + clock + "-25:60"},
		{"year-5", "in a year of five digits", "1" + day + "T" + clock + "Z"},
		{"year-minus", "in a year before 0", "-" + day + "T" + clock + "Z"},
		{"line", "with a line feed at its end", day + "T" + clock + `Z\n`},
		{"past", "a day before", at.Add(-24 * time.Hour).Format(time.RFC3339)},
	} {
		vs = append(vs, value{"time-" + v.name, v.doc, `"` + v.text + `"`})
	}
	return append(vs,
		value{"time-julian", "a day of the Julian calendar that is to come", "2999999"},
		value{"time-julian-past", "a day of the Julian calendar that is past", "2400000"},
		value{"time-julian-half", "a day of the Julian calendar with a fraction", "2999999.5"})
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
