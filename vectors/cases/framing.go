package cases

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors/kit"
)

// framings alters the text between and around the segments of a token.
func framings(s *Scene) []Case {
	cs := wholes(s)
	for _, step := range s.Trace.Steps(func(s lab.Step) bool { return s == lab.WirePrefix || s == lab.WireSep }) {
		for _, a := range frames(step.Value) {
			cs = append(cs, Case{
				Name: slug(step.At) + "-" + a.Name, Doc: fmt.Sprintf("%s of the sound token: %s", label(step.At), a.Doc),
				Flags: []string{flagFraming}, Edit: kit.Only(step.At, a.Change),
				Want: Refused, Property: codecs.Integrity,
			})
		}
	}
	for _, step := range s.Trace.Steps(isSegment) {
		for _, a := range []kit.Alteration{
			{Name: "empty", Doc: "empty", Change: kit.Cut(0)},
			{Name: "twice", Doc: "there twice", Change: func(b []byte) []byte { return bytes.Repeat(b, 2) }},
		} {
			cs = append(cs, Case{
				Name: slug(step.At) + "-" + a.Name, Doc: label(step.At) + " of the sound token: " + a.Doc,
				Flags: []string{flagFraming}, Edit: kit.Only(step.At, a.Change),
				Want: Refused, Property: codecs.Integrity,
			})
		}
	}
	return cs
}

// frames are the alterations of a prefix or separator.
func frames(text []byte) []kit.Alteration {
	as := []kit.Alteration{
		{Name: "dropped", Doc: "left out", Change: kit.Cut(0)},
		{Name: "repeated", Doc: "there twice", Change: func(b []byte) []byte { return bytes.Repeat(b, 2) }},
		{Name: "upper", Doc: "in capitals", Change: bytes.ToUpper},
		{Name: "space", Doc: "with a space after it", Change: kit.Append(" ")},
		{Name: "nul", Doc: "with a NUL after it", Change: kit.Append("\x00")},
		{Name: "wide-dot", Doc: "with a full-width dot", Change: replaceFirst(".", "\uff0e")},
		{Name: "comma", Doc: "with a comma for the dot", Change: replaceFirst(".", ",")},
		{Name: "colon", Doc: "with a colon for the dot", Change: replaceFirst(".", ":")},
		{Name: "no-dot", Doc: "without its dot", Change: replaceFirst(".", "")},
	}
	for i, c := range text {
		if c < '0' || c > '9' {
			continue
		}
		for digit := byte('0'); digit <= '9'; digit++ {
			as = append(as, kit.Alteration{
				Name: fmt.Sprintf("version-%d-%c", i, digit), Doc: fmt.Sprintf("version digit %c", digit),
				Change: func(b []byte) []byte { b[i] = digit; return b },
			})
		}
	}
	return as
}

// wholes alters the token as a single text.
func wholes(s *Scene) []Case {
	token := slices.Clone(s.Token)
	var cs []Case
	for _, a := range []kit.Alteration{
		{Name: "empty", Doc: "the empty token", Change: kit.Cut(0)},
		{Name: "leading-space", Doc: "a space in front", Change: kit.Prepend(" ")},
		{Name: "leading-lf", Doc: "a line feed in front", Change: kit.Prepend("\n")},
		{Name: "leading-bom", Doc: "a byte order mark in front", Change: kit.Prepend("\ufeff")},
		{Name: "quoted", Doc: "in quotation marks", Change: func(b []byte) []byte { return fmt.Appendf(nil, "%q", b) }},
		{Name: "json", Doc: "as a JSON object", Change: func(b []byte) []byte { return fmt.Appendf(nil, `{"token":%q}`, b) }},
		{Name: "null", Doc: "the text null", Change: kit.Set([]byte("null"))},
		{Name: "dots", Doc: "dots alone", Change: kit.Set([]byte("....."))},
		{Name: "two-tokens", Doc: "the token twice", Change: kit.Append(string(token))},
		{Name: "two-tokens-dot", Doc: "the token twice, with a dot between", Change: kit.Append("." + string(token))},
		{Name: "trailing-dot", Doc: "a dot at the end", Change: kit.Append(".")},
		{Name: "trailing-segment", Doc: "a further segment", Change: kit.Append(".AAAA")},
		{Name: "trailing-empty-segments", Doc: "two dots at the end", Change: kit.Append("..")},
		{Name: "upper", Doc: "in capitals", Change: bytes.ToUpper},
		{Name: "lower", Doc: "in small letters", Change: bytes.ToLower},
	} {
		cs = append(cs, Case{
			Name: "token-" + a.Name, Doc: "the whole token: " + a.Doc, Flags: []string{flagFraming},
			Text: a.Change, Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

// allLengths is the length in bytes up to which a token is cut at every place.
// If a token is longer, it is cut around the ends of its segments and at every
// stride.
const (
	allLengths = 120
	stride     = 16
)

// truncations cuts a token short.
func truncations(s *Scene) []Case {
	var cs []Case
	for n := range len(s.Token) {
		if len(s.Token) > allLengths && n%max(stride, len(s.Token)/24) != 0 && !nearDot(s.Token, n) && n < len(s.Token)-4 {
			continue
		}
		cs = append(cs, Case{
			Name: fmt.Sprintf("cut-to-%d", n), Doc: fmt.Sprintf("cut to its first %d characters", n), Flags: []string{flagTruncated},
			Text: kit.Cut(n), Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

// nearDot reports whether a dot is within two characters of index n.
func nearDot(token []byte, n int) bool {
	return bytes.IndexByte(token[max(n-2, 0):min(n+2, len(token))], '.') >= 0
}
