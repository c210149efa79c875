package binding

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// contextAttacks are the attacks that present a token in a context other than its own.
var contextAttacks = []attack.Attack{
	unrelatedValues("CTX-01", "another principal", fields.Principal, "MCP 2026-07-28, basic/patterns/mrtr: bind the principal", "another user's state and rights"),
	unrelatedValues("CTX-02", "another method", fields.Method, "MCP 2026-07-28, basic/patterns/mrtr: identify the request", "a state carried from one kind of request to another"),
	unrelatedValues("CTX-09", "another target", fields.Target, "MCP 2026-07-28, basic/patterns/mrtr: identify the request", "a consent given for one tool, used for another"),
	unrelatedValues("CTX-10", "other arguments", fields.Arguments, "MCP 2026-07-28, basic/patterns/mrtr: digest of the salient parameters", "a consent given for some arguments, used for others"),
	unrelatedValues("CTX-07", "another server", fields.Audience, "RFC 8725, section 3.11", "a token of one server, used at another"),
	{ID: "CTX-03", Name: "empty values, absent values, and words for absent", Layer: attack.LayerContext, CWE: 287,
		Refutes: []codecs.Property{codecs.BindsPrincipal, codecs.BindsAudience, codecs.BindsArguments, codecs.Unambiguous},
		Gain:    "a token of an anonymous request that is accepted from a user, or the reverse", Origin: "CVE-2023-2975; anonymous sentinels: toolhive", Run: onTrial(trial.emptyOrAbsent), Hundreds: 3},
	{ID: "CTX-05", Name: "values that differ in Unicode form, case or white space", Layer: attack.LayerContext, CWE: 176, Refutes: contextProperties,
		Gain: "an account whose name the server takes for that of another user", Origin: "case folding of look-alike letters in account names", Run: onTrial(trial.unicodeForms), Hundreds: 45},
	{ID: "CTX-06", Name: "values that share a beginning, end or part, or differ in type", Layer: attack.LayerContext, CWE: 697, Refutes: contextProperties,
		Gain: "an account or target whose name the server takes for another one", Origin: "CVE-2020-26160, CVE-2024-53861", Run: onTrial(trial.partsOfValues), Hundreds: 52},
	{ID: "CTX-19", Name: "equivalent URLs, mail addresses, domains and issuers, and patterns", Layer: attack.LayerContext, CWE: 436, Refutes: contextProperties,
		Gain: "a name that the server normalizes to that of another user or target, or takes for a pattern of it", Origin: "RFC 3986, section 6; RFC 5321, section 2.4; audiences with wildcards", Run: onTrial(trial.structuredNames), Hundreds: 30},
	{ID: "CTX-13", Name: "arguments of another JSON structure", Layer: attack.LayerContext, CWE: 697, Refutes: []codecs.Property{codecs.BindsArguments, codecs.Unambiguous},
		Gain: "a consent given for some arguments, used for others", Origin: "values that are compared after a conversion", Run: onScheme(trial.structures), Hundreds: 90},
	{ID: "CTX-14", Name: "other values in a context without some or all fields", Layer: attack.LayerContext, CWE: 287, Refutes: fields.Properties,
		Gain: "a token whose remaining fields are not bound, used in another request", Origin: "checks within the branch of an authenticated user", Run: onScheme(trial.fewerFields), Hundreds: 1},
	{ID: "CTX-17", Name: "other values under every pair of circumstances, and for each kind of request", Layer: attack.LayerContext, CWE: 863, Refutes: append([]codecs.Property{codecs.Expiry}, fields.Properties...),
		Gain: "a token that is not bound under some circumstances, used in another request", Origin: "covering arrays: NIST SP 800-142; bindings of one method, one branch or one size", Run: onScheme(trial.circumstances), Hundreds: 30},
	{ID: "CTX-15", Name: "other values and times in a batch", Layer: attack.LayerContext, CWE: 863, Refutes: append([]codecs.Property{codecs.Expiry}, fields.Properties...),
		Gain: "a token that is accepted in any context and at any time if it is verified in a batch", Origin: "CVE-2022-29226", Run: onScheme(trial.otherInBatch), Hundreds: 2},
	{ID: "CTX-11", Name: "long values that differ in one letter or in length", Layer: attack.LayerContext, CWE: 222, Refutes: contextProperties,
		Gain: "a long value that the server takes for another one", Origin: "fields cut to a length before they are compared", Run: onTrial(trial.longValues), Hundreds: 40},
	{ID: "CTX-16", Name: "two values with the same short digest, found by search", Layer: attack.LayerContext, CWE: 328, Refutes: []codecs.Property{codecs.Unambiguous},
		Gain: "an account whose name has the same digest as that of another user", Origin: "digests cut to two bytes; the birthday bound", Run: onScheme(trial.collisions), Hundreds: 2620},
	{ID: "CTX-20", Name: "arguments named like state members or fields, states like claims", Layer: attack.LayerContext, CWE: 915,
		Refutes: append([]codecs.Property{codecs.Integrity, codecs.Expiry, codecs.Unambiguous}, fields.Properties...),
		Gain:    "a state or claims whose sealed values the client has replaced", Origin: "later answers merged over the sealed state: PHP SDK, laravel/mcp", Run: onScheme(trial.overridden), Hundreds: 3},
}

// unrelatedValues returns the attack on one field with unrelated values.
func unrelatedValues(id, name string, f fields.Field, origin, gain string) attack.Attack {
	return attack.Attack{ID: id, Name: name, Refutes: []codecs.Property{f.Property}, Layer: attack.LayerContext, CWE: 863, Origin: origin, Gain: gain,
		Run: onScheme(func(t trial, in *attack.Instance, tok *attack.Token) { t.otherValues(in, tok, f) })}
}

func (t trial) otherValues(in *attack.Instance, tok *attack.Token, f fields.Field) {
	from, present := f.Get(&tok.Under)
	if !present {
		t.Skip("the design does not mint with a value for %s", f.Name)
		return
	}
	var asked []presentation
	for _, v := range f.Unrelated() {
		asked = append(asked, presentation{f.Put(tok.Under, v), f.Property, t.Refute, fmt.Sprintf("a token minted for %s %+q is accepted for %+q", f.Name, from, v)})
	}
	if f.Optional() {
		asked = append(asked, presentation{f.Without(tok.Under), f.Property, t.Refute, fmt.Sprintf("a token minted for a value of %s is accepted without any", f.Name)})
	}
	t.presentIn(in, tok, asked)
	if f.Property == codecs.BindsArguments && f.Binds(in, tok) {
		for _, w := range plainTwins {
			t.across(in, tok.Under, f, w.a, w.b, w.how)
		}
	}
}

// plainTwins are arguments that differ in one value at each kind of place. CTX-13 has many more, for which a
// slow design may have no time.
var plainTwins = []twin{
	{`{"o":{"v":1}}`, `{"o":{"v":2}}`, "a value in an object"}, {`{"l":[{"v":1}]}`, `{"l":[{"v":2}]}`, "a value in an object in a list"},
	{`{"l":["a"]}`, `{"l":["b"]}`, "a value in a list"}, {`{"v":1}`, `{"v":1,"w":1}`, "a member more"}, {`{"v":1}`, `{"v":"1"}`, "a number and its text"},
}

// boundFields calls do for each field that the design binds. The plain attacks cover the other
// fields.
func (t trial) boundFields(do func(in *attack.Instance, under codecs.Context, f fields.Field)) {
	in, tok, ok := t.Scheme()
	if !ok {
		return
	}
	n := 0
	for _, f := range fields.All {
		if _, present := f.Get(&tok.Under); present && f.Binds(in, tok) {
			n++
			do(in, tok.Under, f)
		}
	}
	if n == 0 {
		t.Skip("the design binds no field")
	}
}

// everyMethod is boundFields under the ordinary method, under other methods, and with fields
// absent. A reader may normalize a value only for one method, or only for one kind of caller.
func (t trial) everyMethod(do func(in *attack.Instance, under codecs.Context, f fields.Field)) {
	t.boundFields(do)
	in, tok, ok := t.Scheme()
	if !ok {
		return
	}
	others := []codecs.Context{fields.Audience.Without(tok.Under), fields.Principal.Without(fields.Arguments.Without(tok.Under))}
	for _, m := range fields.OtherMethods {
		others = append(others, fields.Method.Put(tok.Under, m))
	}
	for _, c := range others {
		other, ok := in.Mint(t.State(8), c)
		if !ok {
			continue
		}
		for _, f := range fields.All[1:] {
			if f.Property == codecs.BindsArguments && c.Method != "prompts/get" && c.Method != tok.Under.Method {
				continue // the method has no arguments
			}
			if _, present := f.Get(&other.Under); present && f.Binds(in, other) {
				do(in, other.Under, f)
			}
		}
	}
}

// absentWords are words that programs write for an absent value.
var absentWords = []string{"", "null", "None", "nil", "undefined", "false", "0", "anonymous", "guest", "public", "unknown", "none", "default", "system", "-", "*", "N/A", "<nil>", "local"}

func (t trial) emptyOrAbsent() {
	t.boundFields(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		if f.Property == codecs.BindsArguments {
			t.emptyArguments(in, under)
		}
		if !f.Optional() || f.Property == codecs.BindsArguments {
			return
		}
		for _, v := range absentWords {
			const issue = "%s %+q and no %s are treated as the same"
			t.between(in, f.Put(under, v), f.Without(under), f, issue, f.Name, v, f.Name)
			t.between(in, f.Without(under), f.Put(under, v), f, issue, f.Name, v, f.Name)
			if v != "" {
				t.across(in, under, f, v, "", "a word and the empty text")
			}
		}
	})
}

// emptyArguments compares empty values of different types. A reader may treat absent arguments
// and an empty object alike.
func (t trial) emptyArguments(in *attack.Instance, under codecs.Context) {
	f := fields.Arguments
	for _, v := range []string{`[]`, `""`, `0`, `false`} {
		t.read(in, f.Put(under, `{}`), f.Put(under, v), "two empty values")
		t.read(in, f.Without(under), f.Put(under, v), "no arguments and an empty value")
		t.read(in, f.Put(under, v), f.Without(under), "an empty value and no arguments")
	}
	sealed := in.Seal(t.State(8), f.Put(under, `{}`))
	if call, ok := in.Accepts(sealed.Answer.Out, f.Without(under)); ok {
		t.Observe(codecs.Unambiguous, "arguments {} and no arguments are treated as the same", sealed, call)
	}
}

// checksumTwins are pairs of texts with the same length and the same checksum, whatever text
// surrounds them.
var checksumTwins = []twin{
	{"ab", "ba", "one sum of letters"}, {"plumless", "buckeroo", "one CRC-32"}, {"bbb", "cac", "one Adler-32"},
	{"Aa", "BB", "one hash with the factor 31"}, {"ab", "bA", "one hash with the factor 33"},
}

// longValues compares values that differ in one letter only, values with the same checksum, and
// values that differ in length only.
func (t trial) longValues() {
	t.boundFields(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		for _, n := range []int{8, 15, 16, 20, 32, 64, 100, 128, 255, 256, 512, 1024, 4095, 4096, 65535, 65536} {
			long := strings.Repeat("x", n)
			t.across(in, under, f, f.Value(long+"a"), f.Value(long+"b"), fmt.Sprintf("the text behind %d letters", n))
			t.across(in, under, f, f.Value("a"+long), f.Value("b"+long), fmt.Sprintf("the text in front of %d letters", n))
			t.across(in, under, f, f.Value(long+"a"+long), f.Value(long+"b"+long), fmt.Sprintf("the text between twice %d letters", n))
			t.across(in, under, f, f.Value(long), f.Value(long+long), fmt.Sprintf("a length of %d and of %d", n, 2*n))
		}
		for _, n := range []int{0, 300, 5000} {
			around := strings.Repeat("x", n)
			for _, w := range checksumTwins {
				t.across(in, under, f, f.Value(around+w.a+around), f.Value(around+w.b+around), fmt.Sprintf("%s, between twice %d letters", w.how, n))
			}
		}
		for _, n := range []int{33, 65, 129, 257, 1025, 5000} {
			long := f.Value(strings.Repeat("x", n))
			for _, digest := range printedDigests(long) {
				t.across(in, under, f, long, f.Value(digest.text), fmt.Sprintf("a value of %d letters and its %s", n, digest.name))
			}
		}
		for _, n := range []int{256, 65536} {
			t.across(in, under, f, f.Value("ab"), f.Value("ab"+strings.Repeat("x", n)), fmt.Sprintf("lengths that differ by %d", n))
		}
	})
}

// A printedDigest is a digest as text.
type printedDigest struct{ name, text string }

// printedDigests returns the digests of a value in the encodings in which they may replace it.
func printedDigests(value string) (all []printedDigest) {
	for _, d := range tokenfmt.Hashes {
		sum := d.Sum([]byte(value))
		inHex := hex.EncodeToString(sum)
		for _, text := range []string{inHex, strings.ToUpper(inHex), base64.StdEncoding.EncodeToString(sum), base64.RawURLEncoding.EncodeToString(sum),
			strings.ToLower(strings.ReplaceAll(d.Name, "-", "")) + ":" + inHex} {
			all = append(all, printedDigest{d.Name, text})
		}
	}
	return all
}

// fewerFields mints without one or more of the optional fields and presents other values of the
// rest.
func (t trial) fewerFields(in *attack.Instance, tok *attack.Token) {
	for _, c := range fields.Reduced(tok.Under) {
		fewer, ok := in.Mint(t.State(8), c)
		if !ok {
			continue
		}
		for _, f := range fields.All {
			t.otherValuesOf(in, fewer, f)
		}
	}
	t.withoutSeveral(in, tok)
	if t.Untried() {
		t.Skip("the design mints with every field only")
	}
}

// withoutSeveral presents tok in contexts that lack several of its fields, and in an empty
// context. A reader may then have no value to compare.
func (t trial) withoutSeveral(in *attack.Instance, tok *attack.Token) {
	bound := t.boundAnywhere(in, tok)
	for _, c := range append(fields.Reduced(tok.Under), codecs.Context{Now: tok.Under.Now}) {
		call, ok := in.AcceptsQuietly(tok.Text, c)
		for _, f := range fields.All {
			was, _ := f.Get(&tok.Under)
			if is, present := f.Get(&c); !bound[f.Name] || present && is == was {
				continue
			}
			t.Try(f.Property)
			if ok {
				t.Refute(f.Property, fmt.Sprintf("a token minted for the context %s is accepted in the context %s", fields.Describe(tok.Under), fields.Describe(c)), tok.Sealed, call)
			}
		}
	}
}

// otherValuesOf presents tok with other values of one field, even if the field was absent. It
// also presents tok without the field, directly after a call that has it.
func (t trial) otherValuesOf(in *attack.Instance, tok *attack.Token, f fields.Field) {
	from, present := f.Get(&tok.Under)
	if _, honest := in.Accepts(tok.Text, tok.Under); honest && present && f.Optional() && from != "{}" {
		t.Try(f.Property)
		if call, ok := in.Accepts(tok.Text, f.Without(tok.Under)); ok {
			t.Refute(f.Property, fmt.Sprintf("a token minted for %s %q is accepted without any behind an honest call, in the context %s", f.Name, from, fields.Describe(tok.Under)), tok.Sealed, tok.Opened, call)
		}
	}
	for _, v := range f.Unrelated()[:2] {
		if v == from {
			continue
		}
		t.Try(f.Property)
		if call, ok := in.Accepts(tok.Text, f.Put(tok.Under, v)); ok {
			was := "no " + f.Name
			if present {
				was = fmt.Sprintf("%s %q", f.Name, from)
			}
			t.Refute(f.Property, fmt.Sprintf("a token minted for %s is accepted for %q, in the context %s", was, v, fields.Describe(tok.Under)), tok.Sealed, call)
		}
	}
}

// otherInBatch presents several honest tokens in one batch, in contexts and at times other than
// their own.
func (t trial) otherInBatch(in *attack.Instance, tok *attack.Token) {
	if !in.Batched() {
		t.Skip("the design judges one token at a time")
		return
	}
	for _, f := range fields.All {
		if _, present := f.Get(&tok.Under); present {
			other := f.Put(tok.Under, f.Unrelated()[0])
			t.inBatch(in, f.Property, other, tok.Under, "another "+f.Name)
			t.behindHonest(in, f.Property, other, tok.Under, "another "+f.Name)
		}
	}
	late := attack.Later(tok.Under, 400*24*time.Hour)
	if !t.Design.OwnClock {
		t.inBatch(in, codecs.Expiry, late, tok.Under, "400 days later")
		t.behindHonest(in, codecs.Expiry, late, tok.Under, "400 days later")
	}
	// Verdicts that a reader cached for a batch must not count for later calls.
	both := [][]byte{in.Seal(t.State(8), tok.Under).Answer.Out, tok.Text}
	if _, err := in.UnsealBatch(both, tok.Under); err != nil {
		return
	}
	for _, f := range fields.All {
		t.Refuses(f.Property, in, tok.Sealed, f.Put(tok.Under, f.Unrelated()[0]), "behind a batch with it, a token is accepted with another %s", f.Name)
	}
	if !t.Design.OwnClock {
		t.Refuses(codecs.Expiry, in, tok.Sealed, late, "behind a batch with it, a token is accepted with 400 days later")
	}
}

// inBatch mints tokens in one context and presents them in another, in one batch.
func (t trial) inBatch(in *attack.Instance, property codecs.Property, to, from codecs.Context, how string) {
	var texts [][]byte
	var sealed []verdict.Call
	for range 12 {
		call := in.Seal(t.State(8), from)
		texts, sealed = append(texts, call.Answer.Out), append(sealed, call)
	}
	answers, err := in.UnsealBatch(texts, to)
	if err != nil {
		return
	}
	t.Try(property)
	for i, a := range answers {
		if a.Err == nil {
			t.RefuteIf(property, attack.Sealed(1), fmt.Sprintf("in a batch of %d, token %d is accepted with %s", len(texts), i+1, how), sealed[i])
		}
	}
}

// behindHonest is inBatch with a token in front that was minted for the other context. A result
// for one token must not count for the next.
func (t trial) behindHonest(in *attack.Instance, property codecs.Property, to, from codecs.Context, how string) {
	honest, other := in.Seal(t.State(8), to), in.Seal(t.State(8), from)
	answers, err := in.UnsealBatch([][]byte{honest.Answer.Out, other.Answer.Out}, to)
	if err != nil || answers[0].Err != nil {
		return
	}
	if t.Try(property); answers[1].Err == nil {
		t.RefuteIf(property, attack.Sealed(2), fmt.Sprintf("in a batch behind a good token, a token is accepted with %s", how), honest, other)
	}
}
