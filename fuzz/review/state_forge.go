package review

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
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
		Sent: "each character of a fresh token changed in one bit of its value, and letters of each base64 segment in the other case; characters of the token of a long argument; bytes changed with the CRC-32 before or behind them", Want: "refused", Source: mrtr + ", MUST verify integrity",
		Impact: forgeGain, Fix: fixSeal, Long: true, Run: tamper},
	{ID: "RS-FORGE", Name: "a state that the server did not mint", Flow: true, Severity: Critical, Category: "security",
		Sent: "the readable state with other values; a later time in the open; as JSON, base64 and base64url; a JWT with alg none; a tag that is empty, zero, absent, a hash, or of an empty or well-known key, of a key in the header, or a hash that is continued; another version without a tag; another name of a key, with a tag under an empty key; empty segments; with --effects changed texts without answers",
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
	if labels := slices.DeleteFunc(slices.Clone(hits), func(h hit) bool { return !relabelled(h.token, h.text) }); len(labels) == len(hits) {
		severity, issue = Suggestion, issue+" in a member that names a format"
	} else {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return relabelled(h.token, h.text) })
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

// labels are names of members that tell the form of a token. A reader that takes one form
// may pass over them.
var labels = []string{"kind", "type", "typ", "cty", "v", "ver", "version", "format", "fmt", "alg", "enc", "kid"}

// relabelled reports whether a state differs from a token that is a JSON object in nothing
// but such members.
func relabelled(token, text string) bool {
	one, two := members(json.RawMessage(token)), members(json.RawMessage(text))
	if len(one) < 2 || two == nil {
		return false
	}
	for name, raw := range one {
		if string(two[name]) != string(raw) && !slices.Contains(labels, name) {
			return false
		}
	}
	for name := range two {
		if one[name] == nil && len(two) > len(one) {
			return false
		}
	}
	return true
}

func tamper(t *T) {
	t.altered(Critical, "a changed character", func(token string) []variant {
		if t.only != "" { // any place, of any flow
			return append(flipsAt(token, func(int) bool { return true }), otherCase(token)...)
		}
		return append(flips(token), otherCase(token)...)
	})
	if len(t.findings) == 0 && t.reason == "" {
		t.altered(Critical, "a changed byte with a checksum that is mended", mended)
	}
	t.tamperLong()
	t.onOthers(func(o *oracle) {
		t.altered(Critical, "a changed character of a state of "+o.flow.Target, fewFlips)
	})
}

// maxOnOthers is the number of forgeries that a flow is tried with which is not the first.
const maxOnOthers = 8

// onOthers carries a part of a check out on each flow but its own until one refutes it: a
// server may verify the states of one method, tool or round and not of another.
func (t *T) onOthers(part func(*oracle)) {
	own, reason := t.o, t.reason
	for _, t.o = range t.r.oracles {
		if t.o != own && len(t.findings) == 0 {
			part(t.o)
		}
	}
	t.o, t.reason = own, reason
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
		return flipsAt(token, func(d int) bool { return d%10 == 7 && (d <= 140 || d%9 == 0) })
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

// flips changes each character of a token; of a long token the first and the last
// 140, and between them every third, but at most some 300.
func flips(token string) []variant {
	step := max(3, (len(token)-280)/300|1)
	return flipsAt(token, func(d int) bool { return d <= 140 || d%step == 0 })
}

// mendedPlaces is the number of bytes that are changed beside a checksum, about.
const mendedPlaces = 20

// mended changes bytes of the longest segment together with a CRC-32 in its last four bytes,
// or in front of the bytes that it covers. A stream cipher leaves such a checksum linear:
// its change follows from that of the bytes.
func mended(token string) []variant {
	segments, at := segmentsOf(token), -1
	for i, s := range segments {
		if s.coded && (at < 0 || len(s.text) > len(segments[at].text)) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	raw := segments[at].raw()
	var all []variant
	for _, sum := range []int{-4, 0, 12, 16} { // where it stands; -4: at the end
		from, to, place := sum+4, len(raw), sum
		if sum < 0 {
			from, to, place = 0, len(raw)-4, len(raw)-4
		}
		if to-from < mendedPlaces {
			continue
		}
		for n := range mendedPlaces {
			i := from + n*(to-from)/mendedPlaces
			delta := make([]byte, to-i)
			change := crc32.ChecksumIEEE(delta)
			delta[0] = 1
			change ^= crc32.ChecksumIEEE(delta)
			for name, order := range map[string]binary.ByteOrder{"big": binary.BigEndian, "little": binary.LittleEndian} {
				changed := slices.Clone(raw)
				changed[i] ^= 1
				order.PutUint32(changed[place:], order.Uint32(changed[place:])^change)
				all = append(all, variant{name: fmt.Sprintf("byte %d/%d with a CRC-32 at %d, %s-endian", n, mendedPlaces, sum, name), text: replaced(segments, at, segments[at].write(changed))})
			}
		}
	}
	return all
}

// fewFlips changes between 12 and 24 characters of a long token. Tokens of nearly the same
// length have them at the same places.
func fewFlips(token string) []variant {
	step := 1
	for len(token)/step > 24 {
		step *= 2
	}
	return flipsAt(token, func(d int) bool { return d%step == step/2 })
}

// flipsAt changes the characters of a token at some distances from its nearer end. Their
// names tell that distance, and so mean the same place in a token of another length.
func flipsAt(token string, at func(d int) bool) []variant {
	var all []variant
	i := 0
	for _, s := range segmentsOf(token) {
		for range len(s.text) {
			d, name := i, fmt.Sprintf("character %d", i)
			if i >= len(token)/2 {
				d = len(token) - i
				name = fmt.Sprintf("character %d from the end", d)
			}
			if c := token[i]; c != '=' && c < 0x80 && at(d) {
				all = append(all, variant{name: name, text: token[:i] + string(flip(c, s.hex)) + token[i+1:]})
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
	t.onOthers(func(o *oracle) {
		t.altered(Critical, "a forged state of "+o.flow.Target, func(token string) []variant { return some(forgeries(token), maxOnOthers) })
	})
	t.unverified()
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
