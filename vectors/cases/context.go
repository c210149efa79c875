package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

// contextChange is a change of the context. It makes no case if the context stays the same.
type contextChange struct {
	name, doc string
	property  codecs.Property
	want      Want
	apply     func(*codecs.Context)
}

// allContextCases reads a sound token under each changed binding.
func allContextCases(s *Scene) []Case { return contextsAbout("")(s) }

// contextsAbout is allContextCases restricted to changes whose name begins with field.
func contextsAbout(field string) Family {
	return func(s *Scene) []Case {
		if !s.Design.IsScheme() {
			return nil
		}
		return contextCases(s.Base.Context, field)
	}
}

// claimedContextCases is allContextCases restricted to properties that the design claims. It keeps the
// first change of each other property.
func claimedContextCases(s *Scene) []Case {
	kept := map[codecs.Property]bool{}
	return slices.DeleteFunc(allContextCases(s), func(c Case) bool {
		if g, ok := s.Design.Guarantee(c.Property, s.Base.Options); ok && g.Holds {
			return false
		}
		defer func() { kept[c.Property] = true }()
		return kept[c.Property]
	})
}

// addedContexts is allContextCases restricted to properties that the design claims under the base's
// options but not by default.
func addedContexts(s *Scene) []Case {
	return slices.DeleteFunc(allContextCases(s), func(c Case) bool {
		byDefault, _ := s.Design.Guarantee(c.Property, nil)
		g, _ := s.Design.Guarantee(c.Property, s.Base.Options)
		return byDefault.Holds || !g.Holds
	})
}

func contextCases(was codecs.Context, field string) []Case {
	var cs []Case
	for _, c := range contextChanges {
		if !strings.HasPrefix(c.name, field) {
			continue
		}
		is, property := was, c.property
		if c.apply(&is); emptyVersusAbsent(was.Principal, is.Principal) || emptyVersusAbsent(was.Audience, is.Audience) {
			property = codecs.Unambiguous
		}
		cs = append(cs, Case{
			Name: "read-" + c.name, Doc: "read where " + c.doc, Flags: []string{flagOf[property]},
			Read: func(set *Setting) { c.apply(&set.Context) }, Want: c.want, Property: property,
		})
	}
	return cs
}

// awkwardArgumentCases reads a sound token under arguments that parsers reject or read differently. It
// returns no cases if the design's tokens do not depend on the arguments.
func awkwardArgumentCases(s *Scene) []Case {
	set := s.Base.Clone()
	set.Context.Arguments = nil
	token, _, err := s.Make(set, s.Seed, s.Base.Payload, nil)
	if !s.Design.IsScheme() || err != nil || bytes.Equal(token, s.Token) {
		return nil
	}
	var cs []Case
	for i, raw := range awkwardArgumentTexts {
		cs = append(cs, Case{
			Name: fmt.Sprintf("read-arguments-awkward-%d", i), Doc: fmt.Sprintf("read where the arguments are %s", raw), Flags: []string{flagArguments},
			Read: func(set *Setting) { setArguments(raw)(&set.Context) },
		})
	}
	return cs
}

var awkwardArgumentTexts = []string{
	// not JSON
	`{a:1}`, `{"a"=1}`, `{"a":1 2}`, `{"a":1 "b":2}`, `{"a":1}{}`, `{"a`, `{"a":"b`, `{"a":"\x"}`, "{\"a\":\"\n\"}", `{"a":nul}`, `{"a":tru}`, `{"a":fals}`, `{"a":[1,}`, `{"a":[1 2]}`,
	// names that are numbers in some languages
	`{"":1}`, `{"nan":1,"0x1p1":2}`, `{"1.5":1}`, `{"a":{"1.5":1}}`, `{"0":1,"a":2}`, `{"1":1}`,
	// values that some languages do not have
	`1.5`, `["a"]`, `{"x":[1e400]}`, `{"x":"\ud800"}`, `{"\ud800":2}`,
}

// emptyVersusAbsent reports whether one text is absent and the other empty. A design that treats the two
// alike may still bind every present text.
func emptyVersusAbsent(a, b *string) bool {
	return (a == nil) != (b == nil) && (a == nil || *a == "") && (b == nil || *b == "")
}

var flagOf = map[codecs.Property]string{
	codecs.BindsMethod:    flagMethod,
	codecs.BindsTarget:    flagTarget,
	codecs.BindsArguments: flagArguments,
	codecs.BindsPrincipal: flagPrincipal,
	codecs.BindsAudience:  flagAudience,
	codecs.Unambiguous:    flagAmbiguous,
}

var contextChanges = append(textChanges(), []contextChange{
	{"arguments-none", "there are no arguments", codecs.BindsArguments, Recorded, func(b *codecs.Context) { b.Arguments = nil }},
	{"arguments-other", "one argument differs", codecs.BindsArguments, Recorded, setArguments(`{"env":"dev","count":3,"tags":["a","b"]}`)},
	{"arguments-fewer", "an argument is missing", codecs.BindsArguments, Recorded, setArguments(`{"env":"prod","count":3}`)},
	{"arguments-order", "the arguments stand in another order", codecs.BindsArguments, Recorded, setArguments(`{"count":3,"tags":["a","b"],"env":"prod"}`)},
	{"arguments-spaces", "the arguments are spelled with spaces", codecs.BindsArguments, Recorded, setArguments(`{ "env": "prod", "count": 3, "tags": ["a", "b"] }`)},
	{"arguments-escape", "the arguments are spelled with an escape", codecs.BindsArguments, Recorded, setArguments(`{"env":"\u0070rod","count":3,"tags":["a","b"]}`)},
	{"arguments-float", "3 is spelled 3.0", codecs.BindsArguments, Recorded, setArguments(`{"env":"prod","count":3.0,"tags":["a","b"]}`)},
	{"arguments-text", "3 is a string", codecs.BindsArguments, Recorded, setArguments(`{"env":"prod","count":"3","tags":["a","b"]}`)},
	{"arguments-twice", "a name stands there twice, the right value last", codecs.BindsArguments, Recorded, setArguments(`{"env":"dev","env":"prod","count":3,"tags":["a","b"]}`)},
	{"arguments-twice-last", "a name stands there twice, the right value first", codecs.BindsArguments, Recorded, setArguments(`{"env":"prod","env":"dev","count":3,"tags":["a","b"]}`)},
	{"arguments-swapped", "the items of a list are swapped", codecs.BindsArguments, Recorded, setArguments(`{"env":"prod","count":3,"tags":["b","a"]}`)},
	{"arguments-nested", "the arguments are wrapped in a list", codecs.BindsArguments, Recorded, setArguments(`[{"env":"prod","count":3,"tags":["a","b"]}]`)},
	{"arguments-empty", "the arguments are {}", codecs.BindsArguments, Recorded, setArguments(`{}`)},
	{"arguments-null", "the arguments are null", codecs.BindsArguments, Recorded, setArguments(`null`)},
	{"arguments-list", "the arguments are []", codecs.BindsArguments, Recorded, setArguments(`[]`)},
	{"arguments-zero", "the arguments are 0", codecs.BindsArguments, Recorded, setArguments(`0`)},
	{"arguments-one", "the arguments are 1", codecs.BindsArguments, Recorded, setArguments(`1`)},
	{"arguments-five", "the arguments are 5", codecs.BindsArguments, Recorded, setArguments(`5`)},
	{"arguments-half", "the arguments are 0.5", codecs.BindsArguments, Recorded, setArguments(`0.5`)},
	{"arguments-zero-float", "the arguments are -0.0", codecs.BindsArguments, Recorded, setArguments(`-0.0`)},
	{"arguments-tiny", "the arguments are 1e-400, which no double holds", codecs.BindsArguments, Recorded, setArguments(`1e-400`)},
	{"arguments-false", "the arguments are false", codecs.BindsArguments, Recorded, setArguments(`false`)},
	{"arguments-true", "the arguments are true", codecs.BindsArguments, Recorded, setArguments(`true`)},
	{"arguments-empty-string", "the arguments are an empty string", codecs.BindsArguments, Recorded, setArguments(`""`)},
	{"arguments-string", "the arguments are a string", codecs.BindsArguments, Recorded, setArguments(`"x"`)},
	{"arguments-list-null", "the arguments are [null]", codecs.BindsArguments, Recorded, setArguments(`[null]`)},
	{"arguments-huge", "an argument is 1e400", codecs.BindsArguments, Recorded, setArguments(`{"a":[1e400]}`)},
	{"arguments-surrogate", "an argument is a lone surrogate", codecs.BindsArguments, Recorded, setArguments(`{"a":"\ud800"}`)},
	{"arguments-surrogate-name", "an argument's name is a lone surrogate", codecs.BindsArguments, Recorded, setArguments(`{"\ud800":1}`)},
	{"arguments-broken", "the arguments are not JSON", codecs.BindsArguments, Recorded, setArguments(`{"env":`)},
	{"principal-none", "nobody is authenticated", codecs.BindsPrincipal, Refused, func(b *codecs.Context) { b.Principal = nil }},
	{"audience-none", "there is no audience", codecs.BindsAudience, Refused, func(b *codecs.Context) { b.Audience = nil }},
	{"glued-method", "the end of the method has moved to the target", codecs.Unambiguous, Refused, func(b *codecs.Context) {
		b.Method, b.Target = "tools/cal", "l"+b.Target
	}},
	{"glued-target", "the method and the target have changed places", codecs.Unambiguous, Refused, func(b *codecs.Context) {
		b.Method, b.Target = b.Target, b.Method
	}},
	{"glued-nul", "a part behind a NUL has moved from one field to the next", codecs.Unambiguous, Refused, moveNUL},
	{"glued-principal", "the principal and the audience have changed places", codecs.Unambiguous, Refused, func(b *codecs.Context) {
		b.Principal, b.Audience = b.Audience, b.Principal
	}},
}...)

// textChanges changes the four text fields, one at a time.
func textChanges() []contextChange {
	var cs []contextChange
	for _, r := range textRewrites {
		cs = append(cs,
			contextChange{"method-" + r.name, "the method " + r.doc, codecs.BindsMethod, Refused, func(b *codecs.Context) { b.Method = r.change(b.Method) }},
			contextChange{"target-" + r.name, "the target " + r.doc, codecs.BindsTarget, Refused, func(b *codecs.Context) { b.Target = r.change(b.Target) }},
			contextChange{"principal-" + r.name, "the principal " + r.doc, codecs.BindsPrincipal, Refused, func(b *codecs.Context) { b.Principal = rewriteText(b.Principal, r.change) }},
			contextChange{"audience-" + r.name, "the audience " + r.doc, codecs.BindsAudience, Refused, func(b *codecs.Context) { b.Audience = rewriteText(b.Audience, r.change) }},
		)
	}
	return cs
}

// rewriteText applies change to a text, or to the empty text if s is nil.
func rewriteText(s *string, change func(string) string) *string {
	if s == nil {
		s = new(string)
	}
	return new(change(*s))
}

var textRewrites = []struct {
	name, doc string
	change    func(string) string
}{
	{"other", "is another", func(string) string { return "other/other" }},
	{"empty", "is empty", func(string) string { return "" }},
	{"longer", "is one character longer", func(s string) string { return s + "x" }},
	{"shorter", "is one character shorter", func(s string) string { return s[:max(len(s)-1, 0)] }},
	{"upper", "is in capitals", strings.ToUpper},
	{"space", "has a space after it", func(s string) string { return s + " " }},
	{"nul", "has a NUL after it", func(s string) string { return s + "\x00" }},
	{"nul-more", "has a NUL and more after it", func(s string) string { return s + "\x00admin" }},
	{"slash", "has a slash after it", func(s string) string { return s + "/" }},
	{"decomposed", "has its accents apart (NFD)", strings.NewReplacer("\u00eb", "e\u0308", "\u00e9", "e\u0301").Replace},
	{"compatible", "has its ligature apart (NFKC)", strings.NewReplacer("\ufb01", "fi").Replace},
	{"folded", "is case-folded", strings.NewReplacer("\u0130", "i\u0307", "Z", "z").Replace},
	{"wide", "has a full-width letter", strings.NewReplacer("a", "\uff41", "e", "\uff45").Replace},
}

func setArguments(raw string) func(*codecs.Context) {
	return func(b *codecs.Context) { b.Arguments = json.RawMessage(raw) }
}

// moveNUL moves text across a NUL between principal and target. If the principal contains a NUL, the part
// after it moves to the front of the target. If the target contains one, the part before it moves to the
// end of the principal.
func moveNUL(b *codecs.Context) {
	if b.Principal == nil {
		return
	}
	if head, tail, ok := strings.Cut(*b.Principal, "\x00"); ok {
		b.Principal, b.Target = &head, tail+"\x00"+b.Target
		return
	}
	if head, tail, ok := strings.Cut(b.Target, "\x00"); ok {
		principal := *b.Principal + "\x00" + head
		b.Principal, b.Target = &principal, tail
	}
}

// otherSettings are contexts other than that of the first base. Each is a base for the families of
// contexts and times.
var otherSettings = []struct {
	name, doc string
	try       Family // nil: the sound token alone
	change    func(*Setting)
}{
	{"no-principal", "minted without a principal", unprincipledCases, func(s *Setting) { s.Context.Principal = nil }},
	{"empty-principal", "minted for the empty principal", contextsAbout("principal-"), func(s *Setting) { s.Context.Principal = new("") }},
	{"no-audience", "minted without an audience", contextsAbout("audience-"), func(s *Setting) { s.Context.Audience = nil }},
	{"empty-audience", "minted for the empty audience", contextsAbout("audience-"), func(s *Setting) { s.Context.Audience = new("") }},
	{"no-arguments", "minted without arguments", contextsAbout("arguments-"), func(s *Setting) { s.Context.Arguments = nil }},
	{"empty-target", "minted for the empty target", contextsAbout("target-"), func(s *Setting) { s.Context.Target = "" }},
	{"prompt", "minted for a prompt", contextsAbout("method-"), func(s *Setting) { s.Context.Method = "prompts/get" }},
	{"resource", "minted for a resource", contextsAbout("arguments-"), func(s *Setting) {
		s.Context.Method, s.Context.Target, s.Context.Arguments = "resources/read", "file:///a.txt", nil
	}},
	{"unicode", "minted for a principal and a target outside ASCII", contextsAbout("principal-"), func(s *Setting) {
		s.Context.Principal, s.Context.Target = new("Zo\u00eb \ufb01 \u0130"), "d\u00e9ploy"
	}},
	{"numbers", "minted for arguments with awkward numbers", contextsAbout("arguments-"), func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`{"z":1.0,"a":[1e16,12345678901234567890,-0.0,1e-7,"\u00e9\ud800"],"a\u0000":null}`)
	}},
	{"floats", "minted for arguments with numbers of each form", nil, func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`{"a":[1.5,100.0,1e2,1E+2,0.1,1e-7,123456789.125,1e21,5e-324,1.7976931348623157e308],"b":[9007199254740993,18446744073709551615,-9223372036854775808]}`)
	}},
	{"large-numbers", "minted for arguments with numbers that 64 bits do not hold", nil, func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`{"a":[18446744073709551616,123456789012345678901234567890,-9223372036854775809,0.1234567890123456789012345]}`)
	}},
	{"names", "minted for arguments with names of each kind", nil, func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`{"B":1,"a":2,"1":3,"01":4,"-5":5,"":6,"\u00e9x":7,"\u20ac":8,"\ud83d\ude00":9,"\ufb01":10,"a b":11,"__proto__":12}`)
	}},
	{"list-names", "minted for arguments with the names of a list", nil, func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`{"0":"a","1":"b"}`)
	}},
	{"texts", "minted for arguments with texts that are escaped", nil, func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`{"a":"</&'\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u0085\u2028\u2029\ufeff","b":{"c":{"d":[[],{},[{}],null,true,false]}}}`)
	}},
	{"nul-target", "minted with a NUL in the target", contextsAbout("glued-"), func(s *Setting) {
		s.Context.Principal, s.Context.Target = new("alice"), "ops\x00deploy"
	}},
	{"nul-principal", "minted with a NUL in the principal", contextsAbout("glued-"), func(s *Setting) {
		s.Context.Principal, s.Context.Target = new("alice\x00ops"), "deploy"
	}},
	{"numeric", "minted for a target, a principal and an audience that are digits", unquotedCases, func(s *Setting) {
		s.Context.Target, s.Context.Principal, s.Context.Audience = "42", new("43"), new("44")
	}},
	{"short-life", "minted for one second", timeCases, func(s *Setting) { s.TTL = time.Second }},
	{"fractional-life", "minted for one and a half seconds", timeCases, func(s *Setting) { s.TTL = 1500 * time.Millisecond }},
	{"whole-second", "minted at a whole second", timeCases, func(s *Setting) { s.Context.Now = time.Unix(baseTime.Unix(), 0) }},
	{"binary-fraction", "minted at 1/256 of a second, which has eight decimal places", nil, func(s *Setting) { s.Context.Now = time.Unix(baseTime.Unix(), 1e9/256) }},
	{"early", "minted in the year 1970", timeCases, func(s *Setting) { s.Context.Now = time.Unix(1, 0) }},
	{"late", "minted beyond 32 bits", timeCases, func(s *Setting) { s.Context.Now = time.Unix(1<<33, 500_000_000) }},
}

// unprincipledCases reads tokens without a principal under other principals, and cuts their claims.
func unprincipledCases(s *Scene) []Case {
	return append(contextsAbout("principal-")(s), unclosedCases(s)...)
}

// timeCases reads a sound token at other times: around its expiry in seconds, milliseconds and
// microseconds, and before its issue.
func timeCases(s *Scene) []Case {
	if !s.Design.IsScheme() {
		return nil
	}
	ttl := s.Base.TTL
	var cs []Case
	for _, m := range []struct {
		name, doc string
		after     time.Duration // since minting
		want      Want
	}{
		{"at-expiry-minus-2s", "two seconds before it expires", ttl - 2*time.Second, Recorded},
		{"at-expiry-minus-1s", "a second before it expires", ttl - time.Second, Recorded},
		{"at-expiry-minus-1ms", "a millisecond before it expires", ttl - time.Millisecond, Recorded},
		{"at-expiry-minus-fraction", "at the whole second before it expires", ttl - time.Duration(s.Base.Context.Now.Nanosecond()), Recorded},
		{"at-expiry", "at the moment it expires", ttl, Recorded},
		{"at-expiry-plus-1us", "a microsecond after it expires", ttl + time.Microsecond, Recorded},
		{"at-expiry-plus-1ms", "a millisecond after it expires", ttl + time.Millisecond, Recorded},
		{"at-expiry-plus-1s", "a second after it expires", ttl + time.Second, Recorded},
		{"at-expiry-plus-2s", "two seconds after it expires", ttl + 2*time.Second, Refused},
		{"an-hour-late", "an hour after it expires", ttl + time.Hour, Refused},
		{"a-century-late", "a century after it expires", ttl + 100*365*24*time.Hour, Refused},
		{"issued-1s-ahead", "a second before it was issued", -time.Second, Recorded},
		{"issued-59s-ahead", "59 seconds before it was issued", -59 * time.Second, Recorded},
		{"issued-60s-ahead", "60 seconds before it was issued", -60 * time.Second, Recorded},
		{"issued-60-001s-ahead", "60.001 seconds before it was issued", -60*time.Second - time.Millisecond, Recorded},
		{"issued-61s-ahead", "61 seconds before it was issued", -61 * time.Second, Recorded},
		{"issued-an-hour-ahead", "an hour before it was issued", -time.Hour, Refused},
	} {
		cs = append(cs, Case{
			Name: "read-" + m.name, Doc: "read " + m.doc, Flags: []string{flagExpiry},
			Read: func(set *Setting) { set.Context.Now = set.Context.Now.Add(m.after) }, Want: m.want, Property: codecs.Expiry,
		})
	}
	cs = append(cs, Case{
		Name: "read-with-other-ttl", Doc: "read by a server that mints for twice as long", Flags: []string{flagExpiry},
		Read: func(set *Setting) { set.TTL *= 2 },
	})
	if s.Base.Name != "base" {
		return cs
	}
	return append(cs, Case{
		Name: "read-before-1970", Doc: "read a second before 1970", Flags: []string{flagExpiry},
		Read: func(set *Setting) { set.Context.Now = time.Unix(-1, 0) },
	})
}
