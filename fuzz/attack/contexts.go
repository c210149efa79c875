package attack

import (
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// onContexts are the attacks that present a token where it was not minted for.
var onContexts = []Refuter{
	unrelatedValues("CTX-01", "another principal", codecs.BindsPrincipal, "MCP 2026-07-28, basic/patterns/mrtr: bind the principal", "another user's state and rights"),
	unrelatedValues("CTX-02", "another method", codecs.BindsMethod, "MCP 2026-07-28, basic/patterns/mrtr: identify the request", "a state carried from one kind of request to another"),
	unrelatedValues("CTX-09", "another target", codecs.BindsTarget, "MCP 2026-07-28, basic/patterns/mrtr: identify the request", "a consent given for one tool, used for another"),
	unrelatedValues("CTX-10", "other arguments", codecs.BindsArguments, "MCP 2026-07-28, basic/patterns/mrtr: digest of the salient parameters", "a consent given for some arguments, used for others"),
	unrelatedValues("CTX-07", "another server", codecs.BindsAudience, "RFC 8725, section 3.11", "a token of one server, used at another"),
	{ID: "CTX-03", Name: "empty, absent, and words for absent", Layer: LayerContext,
		Refutes: []codecs.Property{codecs.BindsPrincipal, codecs.BindsAudience, codecs.BindsArguments, codecs.Unambiguous},
		Gain:    "an anonymous request in the place of a user's", Origin: "CVE-2023-2975", Run: emptyOrAbsent},
	{ID: "CTX-05", Name: "Unicode forms, case, white space", Layer: LayerContext, Refutes: nearly,
		Gain: "a name that is registered beside another and passes for it", Origin: "case folding of look-alike letters in account names", Run: unicodeForms},
	{ID: "CTX-06", Name: "parts, beginnings, ends, types", Layer: LayerContext, Refutes: nearly,
		Gain: "a name that begins like another and passes for it", Origin: "CVE-2020-26160, CVE-2024-53861", Run: partsOfValues},
	{ID: "CTX-13", Name: "arguments of another structure", Layer: LayerContext, Refutes: []codecs.Property{codecs.BindsArguments, codecs.Unambiguous},
		Gain: "a consent given for some arguments, used for others", Origin: "values that are compared after a conversion", Run: structures},
	{ID: "CTX-14", Name: "other values where another field is absent", Layer: LayerContext, Refutes: binding,
		Gain: "a token that binds less than its siblings", Origin: "checks within the branch of a signed-in user", Run: fewerFields},
	{ID: "CTX-15", Name: "other values and times in a batch", Layer: LayerContext, Refutes: append([]codecs.Property{codecs.Expiry}, binding...),
		Gain: "any context and time by way of the batch", Origin: "CVE-2022-29226", Run: otherInBatch},
	{ID: "CTX-11", Name: "values that differ far behind", Layer: LayerContext, Refutes: nearly,
		Gain: "a long value that passes for another", Origin: "fields cut to a length before they are compared", Run: longValues},
	{ID: "CTX-16", Name: "values with one short digest, by search", Layer: LayerContext, Refutes: []codecs.Property{codecs.Unambiguous},
		Gain: "a name that is registered because its digest is another's", Origin: "digests cut to two bytes; the birthday bound", Run: collisions, Thousands: 262},
}

// binding are the properties of what a token is bound to.
var binding = []codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience}

// nearly are the properties that a value taken for another breaks.
var nearly = []codecs.Property{codecs.Unambiguous, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience}

// unrelatedValues is the attack on one field with values that differ throughout.
func unrelatedValues(id, name string, p codecs.Property, origin, gain string) Refuter {
	return Refuter{ID: id, Name: name, Refutes: []codecs.Property{p}, Layer: LayerContext, Origin: origin, Gain: gain,
		Run: func(t *Trial) {
			for _, f := range fields {
				if f.property == p {
					t.otherValues(f)
				}
			}
		}}
}

// scheme is base for attacks that only schemes can have.
func (t *Trial) scheme() (*Party, *Token, bool) {
	if !t.Subject.IsScheme() {
		t.skip("a codec knows nothing of contexts and time")
		return nil, nil, false
	}
	return t.base()
}

func (t *Trial) otherValues(f field) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	if _, present := f.get(&tok.Under); !present {
		t.skip("the subject does not mint with a value for %s", f.name)
		return
	}
	for _, v := range f.unrelated() {
		t.try(f.property)
		if call, ok := p.accepts(tok.Text, f.put(tok.Under, v)); ok {
			from, _ := f.get(&tok.Under)
			t.refute(f.property, fmt.Sprintf("a token minted for %s %+q is accepted for %+q", f.name, from, v), tok.Sealed, call)
		}
	}
	if f.unset != nil {
		t.try(f.property)
		if call, ok := p.accepts(tok.Text, f.without(tok.Under)); ok {
			t.refute(f.property, "a token minted for a value of "+f.name+" is accepted without any", tok.Sealed, call)
		}
	}
}

// across mints for one value of a field and presents for another, both ways. A
// subject that does not bind the field at all is left to the plain attack.
func (t *Trial) across(p *Party, under verdict.Context, f field, a, b string, how string) {
	t.between(p, f.put(under, a), f.put(under, b), f, fmt.Sprintf("%s %+.60q and %+.60q are taken for the same: %s", f.name, a, b, how))
	t.between(p, f.put(under, b), f.put(under, a), f, fmt.Sprintf("%s %+.60q and %+.60q are taken for the same: %s", f.name, b, a, how))
}

// between mints in one context and presents in the other.
func (t *Trial) between(p *Party, from, to verdict.Context, f field, issue string) {
	sealed := p.seal(t.state(8), from)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	t.try(f.property, codecs.Unambiguous)
	if call, ok := p.accepts(sealed.Answer.Out, to); ok {
		t.refute(codecs.Unambiguous, issue, sealed, call)
		t.refute(f.property, issue, sealed, call)
	}
}

// boundFields calls do for each field that the subject binds.
func (t *Trial) boundFields(do func(p *Party, under verdict.Context, f field)) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	n := 0
	for _, f := range fields {
		if _, present := f.get(&tok.Under); present && t.binds(p, tok, f) {
			n++
			do(p, tok.Under, f)
		}
	}
	if n == 0 {
		t.skip("the subject binds no field")
	}
}

func emptyOrAbsent(t *Trial) {
	t.boundFields(func(p *Party, under verdict.Context, f field) {
		if f.property == codecs.BindsArguments {
			t.emptyArguments(p, under)
		}
		if f.unset == nil || f.property == codecs.BindsArguments {
			return
		}
		for _, v := range []string{"", "null", "None", "nil", "undefined", "false", "0", "anonymous", "-", "*"} {
			issue := fmt.Sprintf("%s %+q and no %s are taken for the same", f.name, v, f.name)
			t.between(p, f.put(under, v), f.without(under), f, issue)
			t.between(p, f.without(under), f.put(under, v), f, issue)
			if v != "" {
				t.across(p, under, f, v, "", "a word and nothing")
			}
		}
	})
}

// emptyArguments presents empty values of different types. Whether no arguments
// and an empty object are the same is for the reader of the arguments to say.
func (t *Trial) emptyArguments(p *Party, under verdict.Context) {
	f := fields[2]
	for _, v := range []string{`[]`, `""`, `0`, `false`} {
		sealed := p.seal(t.state(8), f.put(under, `{}`))
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		t.try(codecs.Unambiguous)
		if call, ok := p.accepts(sealed.Answer.Out, f.put(under, v)); ok {
			t.refute(codecs.Unambiguous, "arguments {} and "+v+" are taken for the same", sealed, call)
		}
	}
	sealed := p.seal(t.state(8), f.put(under, `{}`))
	if call, ok := p.accepts(sealed.Answer.Out, f.without(under)); ok {
		t.observe(codecs.Unambiguous, "arguments {} and no arguments are taken for the same", sealed, call)
	}
}

// surrogates are texts that are not Unicode and that a reader may replace. They
// do not cross to every worker.
var surrogates = []twin{{"\xed\xa0\x80", "\xed\xa0\x81", "lone surrogates"}, {"\xed\xa0\x80", "\ufffd", "a lone surrogate and what replaces it"}, {"\xff", "\xfe", "bytes that are not UTF-8"}}

// A twin is a pair of different texts that careless comparison takes for one.
type twin struct{ a, b, how string }

var unicodeTwins = []twin{
	{"jos\u00e9", "jose\u0301", "composed and decomposed"}, {"\u212bngstrom", "\u00c5ngstrom", "compatibility forms"}, {"\ufb01le", "file", "ligature"},
	{"Alice", "alice", "upper and lower case"}, {"ALICE", "alice", "upper and lower case"}, {"stra\u00dfe", "strasse", "sharp s"}, {"\u0131d", "id", "dotless i"},
	{"\u212aim", "kim", "Kelvin sign"}, {"\u0430lice", "alice", "Cyrillic a"}, {"alice", "\uff41lice", "full width"}, {"jos\u00e9", "jose", "accents dropped"},
	{"jos\u00e9", "jos?", "replaced"}, {"jos\u00e9", "jos\u00e8", "what is not ASCII"}, {"a\u00ad", "a", "soft hyphen"}, {"alice\u200b", "alice", "zero-width space"},
	{"alice ", "alice", "space after"}, {" alice", "alice", "space before"}, {"alice\t", "alice", "tab after"}, {"alice\n", "alice", "line break after"},
	{"alice\x00", "alice", "NUL after"}, {"alice\x00admin", "alice\x00guest", "different after a NUL"}, {"alice\x00admin", "alice", "cut at a NUL"},
	{"a%2Fb", "a/b", "percent escape"}, {"a+b", "a b", "plus and space"}, {"a%20b", "a b", "percent escape"}, {"a\\b", "a/b", "slash and backslash"},
	{"\ufeffalice", "alice", "byte order mark"}, {"a  b", "a b", "two spaces"}, {"a\r\nb", "a\nb", "line breaks"}, {"\U0001f600", "\ufffd", "replacement character"},
	{"\U0001f600", "\U0001f601", "different outside the first plane"}, {"\U00010041", "A", "cut to 16 bits"}, {"\u0141lice", "Alice", "cut to 8 bits"},
}

func unicodeForms(t *Trial) {
	t.boundFields(func(p *Party, under verdict.Context, f field) {
		twins := unicodeTwins
		if t.Subject.Worker == nil && f.property != codecs.BindsArguments {
			twins = slices.Concat(twins, surrogates)
		}
		for _, w := range twins {
			t.across(p, under, f, f.value(w.a), f.value(w.b), w.how)
		}
	})
}

// value makes a text a value of the field: arguments hold it as a member.
func (f field) value(s string) string {
	if f.property != codecs.BindsArguments {
		return s
	}
	return `{"v":` + quoted(s) + `}`
}

var partTwins = []twin{
	{"alice", "alic", "a beginning"}, {"alice", "alice2", "a beginning"}, {"alice", "lice", "an end"}, {"alice", "a", "the first letter"}, {"alice", "ecila", "the letters"},
	{"alice,bob", "alice", "a list and its member"}, {"alice bob", "alice", "a list and its member"}, {"[\"alice\"]", "alice", "a list of one"}, {"\"alice\"", "alice", "quotes"},
	{"alice@a.example", "alice@b.example", "the part before @"}, {"alice@a.example", "alice", "the part before @"}, {"a.alice", "alice", "the part after a full stop"},
	{"alice+b@a.example", "alice@a.example", "what stands between + and @"}, {"a.lice@a.example", "alice@a.example", "full stops before @"}, {"a.b.example", "c.b.example", "the first label of a host"},
	{"tenant/alice", "alice", "the last part of a path"}, {"https://a.example/x", "https://b.example/x", "the path"}, {"https://a.example/x", "http://a.example/x", "the scheme"},
	{"a/b?c=1", "a/b?c=2", "the query"}, {"a/b?c=1", "a/b", "the query"}, {"a/b#c", "a/b", "the fragment"}, {"a/b/", "a/b", "a slash after"}, {"a//b", "a/b", "two slashes"}, {"a/./b", "a/b", "a full stop"},
	{"a/x/../b", "a/b", "parent folders"}, {"https://a.example:443/x", "https://a.example/x", "the default port"}, {"1", "01", "numbers"}, {"1", "1.0", "numbers"}, {"1", "1e0", "numbers"}, {"10", "0x0a", "numbers"},
	{"true", "1", "truth"}, {"0", "", "truth"}, {"9007199254740993", "9007199254740992", "numbers over 2^53"}, {"*", "alice", "a pattern"}, {"a*", "alice", "a pattern"}, {".*", "alice", "a pattern"},
	{"Aa", "BB", "a hash of 32 bits"}, {"plumless", "buckeroo", "CRC-32"}, {"Aa", "B@", "djb2"}, {"bdb", "cbc", "Adler-32"}, {"costarring", "liquid", "FNV-1a"},
}

func partsOfValues(t *Trial) {
	t.boundFields(func(p *Party, under verdict.Context, f field) {
		for _, w := range partTwins {
			t.across(p, under, f, f.value(w.a), f.value(w.b), w.how)
		}
	})
}

// longValues presents values that differ in their last letter only, and values
// that differ by a length.
func longValues(t *Trial) {
	t.boundFields(func(p *Party, under verdict.Context, f field) {
		for _, n := range []int{8, 16, 20, 32, 64, 100, 128, 255, 256, 512, 1024, 4096, 65536} {
			long := strings.Repeat("x", n)
			t.across(p, under, f, f.value(long+"a"), f.value(long+"b"), fmt.Sprintf("what follows %d letters", n))
			t.across(p, under, f, f.value("a"+long), f.value("b"+long), fmt.Sprintf("what stands before %d letters", n))
			t.across(p, under, f, f.value(long), f.value(long+long), fmt.Sprintf("a length of %d and of %d", n, 2*n))
		}
	})
}
