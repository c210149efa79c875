package review

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	mrtr      = "revision 2026-07-28, basic/patterns/mrtr"
	forgeGain = "a client writes the state that the server goes on with: another target, another step, another user"
)

// forging are the checks of states that the server did not mint.
var forging = []Check{
	{ID: "RS-TAMPER", Name: "a character of the state changed", Flow: true, Severity: Critical, Category: "security",
		Sent: "each character of a fresh token changed in one bit of its value, and letters of each base64 segment in the other case; characters of the token of a long argument", Want: "refused", Source: mrtr + ", MUST verify integrity",
		Impact: forgeGain, Fix: fixSeal, Run: tamper},
	{ID: "RS-FORGE", Name: "a state that the server did not mint", Flow: true, Severity: Critical, Category: "security",
		Sent: "the readable state with other values; as JSON, base64 and base64url; a JWT with alg none; a tag that is empty, zero, absent, a hash, or of an empty or well-known key, or of a key in the header; empty segments",
		Want: "refused", Source: mrtr + ", MUST verify integrity", Impact: forgeGain, Fix: fixSeal, Run: forge},
	{ID: "RS-SPLICE", Name: "two states joined", Flow: true, Severity: Critical, Category: "security",
		Sent: "the head of one token with the tail of another, cut at segments and in the middle", Want: "refused",
		Source: mrtr + ", MUST verify integrity", Impact: "parts of two states are combined into one that was never minted", Fix: fixSeal, Run: splice},
	{ID: "RS-CUT", Name: "a shortened state", Flow: true, Severity: Critical, Category: "security",
		Sent: "a fresh token cut to many lengths", Want: "refused, and the server goes on to answer",
		Source: mrtr + ", MUST verify integrity", Impact: "what is missing from a state is left out of the decision, or of the tag", Fix: fixSeal, Run: cut},
}

const fixSeal = "seal the state with an authenticated construction under a key of the server, and verify it before anything is read from it"

// altered sweeps variants, confirms those that were accepted and reports one.
func (t *T) altered(severity Severity, issue string, vary func(token string) []variant) {
	if t.o.presence {
		t.refute(Finding{Case: "any text", Severity: severity, Issue: "any text is accepted in the place of the state",
			Evidence: fmt.Sprintf("%q: %v, as with a good token; without a state: the flow begins again", garbageState, t.o.bad), Want: "refused", Got: t.o.bad.going()})
		return
	}
	hits, tried, reason := t.sweep(vary)
	if reason != "" && len(hits) == 0 {
		t.skip("%s", reason)
		return
	}
	if tried > 0 && t.unclear == tried {
		t.skip("none of %d answers tells whether the state was accepted", tried)
		return
	}
	confirmed := 0
	for _, h := range hits {
		if confirmed == 3 || confirmed == 0 && h.name == "" {
			break
		}
		if !t.confirm(h, vary) {
			continue
		}
		if confirmed++; confirmed > 1 {
			continue
		}
		t.refute(Finding{Case: h.name, Severity: severity, Issue: fmt.Sprintf("%s: accepted (%d of %d)", issue, len(hits), tried),
			Evidence: fmt.Sprintf("token %s; %s: %s -> %v; garbage -> %v", short(h.token, 160), h.name, short(h.text, 160), h.answer, t.o.bad),
			Want:     "refused", Got: h.answer.going()})
	}
}

func tamper(t *T) {
	t.altered(Critical, "a changed character", func(token string) []variant { return append(flips(token), otherCase(token)...) })
	t.tamperLong()
}

// longArgument is the length of an argument whose token is long.
const longArgument = 2000

// tamperLong changes characters of the token of a long argument: a server may judge long
// tokens in another way.
func (t *T) tamperLong() {
	own, reason := t.o, t.reason
	defer func() { t.o, t.reason = own, reason }()
	if len(t.findings) > 0 || reason != "" {
		return
	}
	t.prefer(takesText)
	args := withText(t.o.flow.Arguments, t.o.flow.offer.input(), strings.Repeat("a", longArgument))
	if args == nil {
		return
	}
	long, skipped := t.r.control(t.ctx, t.o.flow.with(args), t.o.user)
	if skipped != "" || len(long.token) < longArgument {
		return
	}
	t.o = long
	t.altered(Critical, "a changed character of a long state", func(token string) []variant {
		all := flips(token)
		return slices.DeleteFunc(all, func(v variant) bool { return !strings.HasSuffix(v.name, "7") })
	})
}

// caseOf is the number of letters of a segment that are written in the other case: more of
// one that can be read, in which most letters are of names and of marks.
func caseOf(s segment) int {
	if utf8.Valid(s.raw()) {
		return 64
	}
	return 8
}

// otherCase writes letters of base64 segments in the other case, which stands for other
// bytes: a tag over the text without regard to case is none over the bytes.
func otherCase(token string) []variant {
	var all []variant
	start := 0
	for _, s := range segmentsOf(token) {
		var letters []int
		for i := range len(s.text) {
			if c := s.text[i] | 0x20; s.code != nil && c >= 'a' && c <= 'z' {
				letters = append(letters, start+i)
			}
		}
		start += len(s.text)
		if strings.ToUpper(s.text) == s.text || strings.ToLower(s.text) == s.text {
			continue // a code of one case, whose readers may take both
		}
		most := min(len(letters), caseOf(s))
		for n := range most {
			i := letters[n*len(letters)/most]
			all = append(all, variant{name: fmt.Sprintf("case of character %d", i), text: token[:i] + string(token[i]^0x20) + token[i+1:]})
		}
	}
	return all
}

// flips changes each character of a token; of a long token the first 100, the last
// 140, and between them every third, but at most some 300.
func flips(token string) []variant {
	var all []variant
	step := max(3, (len(token)-240)/300|1)
	i := 0
	for _, s := range segmentsOf(token) {
		for range len(s.text) {
			inside := i >= 100 && i < len(token)-140
			if c := token[i]; c != '=' && c < 0x80 && (!inside || i%step == 0) {
				all = append(all, variant{name: fmt.Sprintf("character %d", i), text: token[:i] + string(flip(c, s.hex)) + token[i+1:]})
			}
			i++
		}
	}
	return all
}

func forge(t *T) {
	t.altered(Critical, "a forged state", func(token string) []variant {
		return append(forgeries(token), generated(token, false, 6, t.r.opts.Seed)...)
	})
}

// forgeries are states that need no key. Each says something else than the
// token, or says it without its tag.
func forgeries(token string) []variant {
	var all []variant
	add := func(name, text string) {
		if text != token && text != "" {
			all = append(all, variant{name: name, text: text})
		}
	}
	for _, v := range views(token) {
		for name, changed := range changedObjects(v.object) {
			add(fmt.Sprintf("segment %d with %s", v.segment, name), v.write(token, changed))
			forgedAlone(add, name, changed)
			withoutTag(add, token, v, name, changed)
		}
		if _, ok := v.object["alg"]; ok {
			algNone(add, token, v)
			ownKey(add, token, v)
		}
	}
	for _, v := range views(token) {
		for name, changed := range changedObjects(v.object) {
			knownTags(func(tag, text string) { add(tag+" with "+name, text) }, segmentsOf(v.write(token, changed)))
		}
	}
	otherHeads(add, token)
	segments := segmentsOf(token)
	knownTags(add, segments)
	at := codedOf(segments)
	for _, i := range at {
		raw := segments[i].raw()
		for _, n := range []int{16, 32} {
			if len(raw) > n {
				zero := append(append([]byte(nil), raw[:len(raw)-n]...), make([]byte, n)...)
				add(fmt.Sprintf("the last %d bytes of segment %d zero", n, i), replaced(segments, i, segments[i].write(zero)))
			}
		}
		if len(at) > 1 {
			add(fmt.Sprintf("segment %d empty", i), replaced(segments, i, ""))
			add(fmt.Sprintf("segment %d zero", i), replaced(segments, i, segments[i].write(make([]byte, len(raw)))))
		}
	}
	if len(at) > 1 {
		var empty strings.Builder
		for _, s := range segments {
			if !s.coded {
				empty.WriteString(s.text)
			}
		}
		add("every segment empty", empty.String())
	}
	return all
}

// forgedAlone adds a changed state without the rest of the token.
func forgedAlone(add func(name, text string), name string, changed json.RawMessage) {
	add("JSON with "+name, string(changed))
	add("base64 of JSON with "+name, base64.StdEncoding.EncodeToString(changed))
	add("base64url of JSON with "+name, base64.RawURLEncoding.EncodeToString(changed))
}

// withoutTag adds a changed state with the segments after it empty, zero or
// absent.
func withoutTag(add func(name, text string), token string, v view, name string, changed json.RawMessage) {
	if v.segment < 0 {
		return
	}
	segments := segmentsOf(v.write(token, changed))
	last := len(segments) - 1
	if last <= v.segment {
		return
	}
	if segments[last].coded {
		add("empty tag with "+name, replaced(segments, last, ""))
		add("zero tag with "+name, replaced(segments, last, segments[last].write(make([]byte, len(segments[last].raw())))))
	}
	add("no tag with "+name, replaced(segments[:v.segment+1], -1, ""))
}

// otherHeads adds tokens with another key ID or version: the neighbours of each
// character before the first separator.
func otherHeads(add func(name, text string), token string) {
	n := strings.IndexAny(token, separators)
	if n < 1 || n > 4 {
		return
	}
	for i := range n {
		for _, d := range []int{-2, -1, 1, 2, 3} {
			c := int(token[i]) + d
			if c < 0x80 && isCoded(byte(c)) {
				name, text := fmt.Sprintf("character %d of the head %+d", i, d), token[:i]+string(rune(c))+token[i+1:]
				if add(name, text); d == 1 && i == n-1 {
					knownTags(func(tag, text string) { add(name+" and "+tag, text) }, segmentsOf(text))
				}
			}
		}
	}
}

// knownTags adds the state with tags that anybody computes, of its text and of its bytes.
func knownTags(add func(name, text string), segments []segment) {
	last := len(segments) - 1
	if last < 1 || !segments[last].coded {
		return
	}
	messages := map[string][]byte{"text": []byte(strings.TrimRight(replaced(segments, last, ""), separators))}
	for _, s := range segments[:last] {
		if s.coded {
			messages["bytes"], messages["segment"] = s.raw(), []byte(s.text) // of the last one
		}
	}
	n := len(segments[last].raw())
	for of, message := range messages {
		for name, tag := range knownSums(message) {
			add(fmt.Sprintf("%s of the %s", name, of), replaced(segments, last, segments[last].write(tag[:min(n, len(tag))])))
		}
	}
}

// knownSums are tags of a message that need no secret.
func knownSums(message []byte) map[string][]byte {
	sum := sha256.Sum256(message)
	all := map[string][]byte{"SHA-256": sum[:]}
	for _, key := range []string{"", "secret"} {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(message)
		all[fmt.Sprintf("HMAC-SHA256 under %q", key)] = mac.Sum(nil)
	}
	return all
}

// algNone adds JWTs whose header asks for no signature.
func algNone(add func(name, text string), token string, header view) {
	for _, alg := range []string{"none", "None", "NONE", "nOnE"} {
		object := object(with(header.object, "alg", quote(alg)))
		text := header.write(token, object)
		segments := segmentsOf(text)
		add(fmt.Sprintf("alg %q", alg), text)
		add(fmt.Sprintf("alg %q and an empty signature", alg), replaced(segments, len(segments)-1, ""))
	}
}

// ownKey adds the JWT under a key that stands in its own header.
func ownKey(add func(name, text string), token string, header view) {
	key := sha256.Sum256([]byte("sealab"))
	text := quote(base64.RawURLEncoding.EncodeToString(key[:]))
	hs256 := with(header.object, "alg", quote("HS256"))
	signed := func(name string, members map[string]json.RawMessage) {
		segments := segmentsOf(header.write(token, object(members)))
		last := len(segments) - 1
		mac := hmac.New(sha256.New, key[:])
		mac.Write([]byte(strings.TrimRight(replaced(segments, last, ""), separators)))
		add(name, replaced(segments, last, segments[last].write(mac.Sum(nil))))
	}
	signed("a key in the header", with(hs256, "jwk", object(map[string]json.RawMessage{"kty": quote("oct"), "k": text})))
	for _, name := range sortedKeys(header.object) {
		if raw := header.object[name]; name != "alg" && name != "typ" && len(raw) > 0 && raw[0] == '"' {
			signed(fmt.Sprintf("a key in the header %q", name), with(hs256, name, text))
		}
	}
}

// changedObjects returns copies of a state in each of which one value is
// another. Members that look like times are left alone: their change may be
// refused for another reason.
func changedObjects(state map[string]json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, name := range sortedKeys(state) {
		if changed := changedValue(state[name], 3); changed != nil {
			all[fmt.Sprintf("another %q", name)] = object(with(state, name, changed))
		}
	}
	return all
}

// changedValue returns another value of the same type, nil if the value has no other.
func changedValue(raw json.RawMessage, depth int) json.RawMessage {
	var text string
	var number float64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return quote(text + "x")
	case json.Unmarshal(raw, &number) == nil && number < 1e8:
		return json.RawMessage(fmt.Sprint(number + 1))
	case string(raw) == "true":
		return json.RawMessage("false")
	case string(raw) == "false":
		return json.RawMessage("true")
	}
	m := members(raw)
	for _, name := range sortedKeys(m) {
		if depth == 0 {
			break
		}
		if changed := changedValue(m[name], depth-1); changed != nil {
			return object(with(m, name, changed))
		}
	}
	return nil
}

func splice(t *T) {
	other, reason := t.otherToken()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	t.altered(Critical, "parts of two tokens joined", func(token string) []variant { return splices(token, other) })
}

// otherToken is a token that differs from those of the flow: of other arguments
// if the flow has any.
func (t *T) otherToken() (token, reason string) {
	f := t.o.flow
	if f.Other != nil {
		f = f.with(f.Other)
	}
	token, _, err := t.r.client.mint(t.ctx, f, t.o.user)
	if err != nil {
		return t.mint()
	}
	t.honest[token] = true
	return token, ""
}

// splices joins parts of two tokens at the borders of segments and in their
// middle. Those that are equal to either are left out.
func splices(token, other string) []variant {
	var all []variant
	add := func(name, text string) {
		if text != token && text != other {
			all = append(all, variant{name: name, text: text})
		}
	}
	a, b := segmentsOf(token), segmentsOf(other)
	if len(a) == len(b) {
		for i := range a {
			add(fmt.Sprintf("segment %d of another token", i), replaced(a, i, b[i].text))
		}
	}
	for _, part := range []int{4, 3, 2} {
		i := len(token) / part
		if i < len(other) {
			add(fmt.Sprintf("1/%d of one, the rest of another", part), token[:i]+other[i:])
			add(fmt.Sprintf("1/%d of another, the rest of one", part), other[:i]+token[i:])
		}
	}
	for _, n := range []int{16, 22, 43, 64} { // text of tags of 12, 16, 32 and 48 bytes
		if n < len(token) && n < len(other) {
			add(fmt.Sprintf("the last %d characters of another", n), token[:len(token)-n]+other[len(other)-n:])
		}
	}
	return all
}

func cut(t *T) { t.altered(Critical, "a shortened token", cuts) }

// cuts shortens a token: by each length up to 70 characters, which covers tags,
// and to some lengths below. The empty text is left out: it can mean no state.
func cuts(token string) []variant {
	var all []variant
	for n := len(token) - 1; n > 0; n-- {
		gone := len(token) - n
		if gone <= 70 || gone%max(8, len(token)/128) == 0 || n <= 8 {
			all = append(all, variant{name: fmt.Sprintf("%d characters cut off", gone), text: token[:n]})
		}
	}
	for _, n := range []int{1, 2, 3, 4} {
		if n < len(token) {
			all = append(all, variant{name: fmt.Sprintf("%d characters cut off in front", n), text: token[n:]})
		}
	}
	return append(all, shorterTags(token)...)
}

// shorterTags cuts the bytes of the last segment and writes them again, so that a
// strict reader takes the text. Segments that are longer than any tag are left out.
func shorterTags(token string) []variant {
	segments := segmentsOf(token)
	last := len(segments) - 1
	raw := segments[last].raw()
	var all []variant
	for n := 1; n < len(raw) && last > 0 && len(raw) <= 64; n++ {
		all = append(all, variant{name: fmt.Sprintf("a tag of %d bytes", n), text: replaced(segments, last, segments[last].write(raw[:n]))})
	}
	return all
}
