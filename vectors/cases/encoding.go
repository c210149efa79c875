package cases

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
)

const base64URLAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// encodingCases re-encodes the text segments of a sound token in other ways.
func encodingCases(s *Scene) []Case {
	return append(encodingAliasCases(s.Trace.steps(isSegment), base64Aliases), tailBits(s)...)
}

// tailBits sets unused bits. It also inserts line feeds at the chunk boundaries of streaming decoders.
func tailBits(s *Scene) []Case {
	if s.Base.Name != "base" && len(s.Token)-2*len(s.Base.Payload) > largeOverhead {
		return nil // a large signature or encapsulation: the first base has these cases
	}
	var cs []Case
	for _, step := range s.Trace.steps(isSegment) {
		cs = append(cs, encodingAliasCases([]Step{step}, spareBits(step.Value))...)
	}
	if len(s.Token) > chunkSeam {
		cs = append(cs, encodingAliasCases(s.Trace.steps(isSegment), lateAliases)...)
	}
	return cs
}

// largeOverhead is the number of characters above which a token of a small payload
// counts as large.
const largeOverhead = 1000

// A token longer than chunkSeam characters exceeds the first chunk of a streaming decoder.
const chunkSeam = 4096

// lateAliases are encodings that are not canonical only near the end.
var lateAliases = []Alteration{
	{Name: "late-lf", Doc: "a line feed before the last four characters", Change: func(b []byte) []byte { return slices.Insert(b, max(len(b)-4, 0), '\n') }},
	{Name: "late-bang", Doc: "! for the last but fourth character", Change: func(b []byte) []byte { b[max(len(b)-5, 0)] = '!'; return b }},
	{Name: "late-minus-plus", Doc: "the last - as +", Change: replaceLast("-", "+")},
	{Name: "late-underscore-slash", Doc: "the last _ as /", Change: replaceLast("_", "/")},
}

// encodingAliasCases returns a case for every other encoding of every segment.
func encodingAliasCases(segments []Step, as []Alteration) []Case {
	return alterationCases(segments, as, "%s", "%s spelled in another way: %s",
		Case{Flags: []string{flagAlias}, Want: Refused, Property: codecs.Canonical})
}

// base64Aliases are other ways to write base64url.
var base64Aliases = append(insertionAlterations(), []Alteration{
	{Name: "pad-1", Doc: "one = at the end", Change: appendText("=")},
	{Name: "pad-2", Doc: "two = at the end", Change: appendText("==")},
	{Name: "pad-3", Doc: "three = at the end", Change: appendText("===")},
	{Name: "padded", Doc: "padded to a multiple of four characters", Change: padBase64},
	{Name: "standard", Doc: "the alphabet with + and /", Change: standardAlphabet},
	{Name: "standard-padded", Doc: "the alphabet with + and /, padded", Change: func(b []byte) []byte { return padBase64(standardAlphabet(b)) }},
	{Name: "first-minus-plus", Doc: "the first - as +", Change: replaceFirst("-", "+")},
	{Name: "first-underscore-slash", Doc: "the first _ as /", Change: replaceFirst("_", "/")},
	{Name: "last-minus-plus", Doc: "the last - as +", Change: replaceLast("-", "+")},
	{Name: "last-underscore-slash", Doc: "the last _ as /", Change: replaceLast("_", "/")},
	{Name: "percent", Doc: "the first character percent-encoded", Change: percentFirst},
	{Name: "case", Doc: "the first letter in the other case", Change: otherCase},
	{Name: "nul-third", Doc: "a NUL for the third character", Change: nulAt(2)},
	{Name: "nul-fourth", Doc: "a NUL for the fourth character", Change: nulAt(3)},
	{Name: "nul-underscore", Doc: "a NUL for the first _ that begins a group of four characters", Change: nulForUnderscore},
	{Name: "a-1", Doc: "an A at the end", Change: appendText("A")},
	{Name: "a-2", Doc: "AA at the end", Change: appendText("AA")},
	{Name: "a-3", Doc: "AAA at the end", Change: appendText("AAA")},
	{Name: "a-4", Doc: "AAAA at the end", Change: appendText("AAAA")},
	{Name: "cut-1", Doc: "without its last character", Change: func(b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{Name: "cut-2", Doc: "without its last two characters", Change: func(b []byte) []byte { return b[:max(len(b)-2, 0)] }},
	{Name: "cut-4", Doc: "without its last four characters", Change: func(b []byte) []byte { return b[:max(len(b)-4, 0)] }},
}...)

// insertionAlterations puts ignorable characters at the front, in the middle and at the
// end.
func insertionAlterations() []Alteration {
	var as []Alteration
	for _, c := range []struct{ name, text string }{
		{"lf", "\n"}, {"lf-4", "\n\n\n\n"}, {"cr", "\r"}, {"cr-4", "\r\r\r\r"}, {"crlf", "\r\n"}, {"tab", "\t"}, {"space", " "}, {"vt", "\v"}, {"ff", "\f"},
		{"nul", "\x00"}, {"dot", "."}, {"bang", "!"}, {"bom", "\ufeff"}, {"nbsp", "\u00a0"}, {"wide-a", "\uff21"},
	} {
		as = append(as,
			Alteration{Name: c.name + "-front", Doc: fmt.Sprintf("%q in front", c.text), Change: prependText(c.text)},
			Alteration{Name: c.name + "-middle", Doc: fmt.Sprintf("%q in the middle", c.text), Change: insertText(c.text)},
			Alteration{Name: c.name + "-end", Doc: fmt.Sprintf("%q at the end", c.text), Change: appendText(c.text)},
		)
	}
	return as
}

// spareBits sets the unused bits of the last character.
func spareBits(text []byte) []Alteration {
	spare := map[int]int{2: 16, 3: 4}[len(text)%4]
	if spare == 0 {
		return nil
	}
	at := strings.IndexByte(base64URLAlphabet, text[len(text)-1])
	if at < 0 {
		return nil
	}
	var as []Alteration
	for i := 1; i < spare; i *= 2 {
		other := base64URLAlphabet[at^i]
		as = append(as, Alteration{
			Name: fmt.Sprintf("spare-bits-%d", i), Doc: fmt.Sprintf("an unused bit of the last character flipped, %q for %q", other, base64URLAlphabet[at]),
			Change: func(b []byte) []byte { return append(b[:len(b)-1], other) },
		})
	}
	return as
}

func padBase64(b []byte) []byte { return append(b, strings.Repeat("=", (4-len(b)%4)%4)...) }

func standardAlphabet(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
}

func replaceFirst(old, other string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(other), 1) }
}

func replaceLast(old, other string) func([]byte) []byte {
	return func(b []byte) []byte {
		if i := bytes.LastIndex(b, []byte(old)); i >= 0 {
			copy(b[i:], other)
		}
		return b
	}
}

func percentFirst(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	return append(fmt.Appendf(nil, "%%%02X", b[0]), b[1:]...)
}

func nulAt(i int) func([]byte) []byte {
	return func(b []byte) []byte {
		if i < len(b) {
			b[i] = 0
		}
		return b
	}
}

// nulForUnderscore replaces an underscore by NUL. A decoder that marks padding with a value of all ones
// reads both alike.
func nulForUnderscore(b []byte) []byte {
	for i := 0; i < len(b); i += 4 {
		if b[i] == '_' {
			b[i] = 0
			break
		}
	}
	return b
}

func otherCase(b []byte) []byte {
	for i, c := range b {
		if lower := c | 0x20; 'a' <= lower && lower <= 'z' {
			b[i] ^= 0x20
			break
		}
	}
	return b
}
