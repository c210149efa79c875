package attack

import (
	"bytes"
	"fmt"
	"strings"

	"sealab/codecs"
)

const gainSpelling = "a second text for one token, which replay caches and revocation lists keyed on the text do not know"

// spelled are the properties that attacks on the encoding are aimed at.
var spelled = []codecs.Property{codecs.Canonical, codecs.Integrity}

// onText are the attacks on the text of a token: it changes, its bytes do not.
var onText = []Refuter{
	{ID: "ENC-01", Name: "unused bits of the last character", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "RFC 4648, section 3.5; golang-jwt pull request 259; PASETO test vector 4-F-4", Run: unusedBits},
	{ID: "ENC-02", Name: "the other base64 alphabet", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "lestrrat-go/jwx decodes both alphabets by default; vector decoders of base64", Run: otherAlphabet},
	{ID: "ENC-03", Name: "padding added and dropped", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "PASETO test vector 4-F-5", Run: padding},
	{ID: "ENC-04", Name: "white space and line breaks", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "go-jose issues 237, 244, 280; encoding/base64 skips CR and LF", Run: whiteSpace},
	{ID: "ENC-05", Name: "case, percent escapes, plus for space", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "RFC 3986, section 2.1; case-insensitive readers of hexadecimal and base32", Run: letterCase},
	{ID: "ENC-06", Name: "NUL, byte order mark, look-alikes, invalid UTF-8", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "CVE-2009-2408", Run: foreignCharacters},
	{ID: "ENC-07", Name: "another serialisation of the same parts", Refutes: spelled, Layer: LayerText,
		Gain:   "two readers take different things from one token",
		Origin: "CVE-2022-39227", Run: otherSerialisation},
	{ID: "ENC-08", Name: "trailing data", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "fernet-go accepts a further character and a further segment", Run: trailingData},
	{ID: "ENC-09", Name: "longer forms of numbers and lengths inside, authenticated", Refutes: spelled, Layer: LayerReseal, Gain: gainSpelling,
		Origin:  "DER and CBOR, which have one shortest form",
		Dropped: "what is inside is under the tag: only the server can write it in another form, and the token is one text all the same"},
}

// everySpelling presents each variant that vary makes of a token of each length
// modulo three.
func (t *Trial) everySpelling(vary func(p *Party, tok *Token)) {
	p, _, ok := t.base()
	if !ok {
		return
	}
	for _, n := range []int{24, 25, 26, 1} {
		if tok, ok := t.mint(p, t.state(n)); ok {
			vary(p, tok)
		}
	}
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// unusedBits changes the last character of each piece in the bits that carry
// nothing, for base64 and base32.
func unusedBits(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		s := tok.shape()
		for _, i := range s.coded() {
			body := strings.TrimRight(s.pieces[i].text, "=")
			pad := s.pieces[i].text[len(body):]
			for _, c := range s.pieces[i].code.letters() {
				other := body[:len(body)-1] + string(c)
				raw, err := s.pieces[i].code.decode(other + pad)
				if err == nil && bytes.Equal(raw, s.pieces[i].raw) {
					t.spelling(p, tok, s.withText(i, other+pad), fmt.Sprintf("last character of piece %d as %q", i, c))
				}
			}
		}
	})
}

// letters are the characters that the code writes.
func (c textCode) letters() string {
	switch {
	case strings.HasPrefix(c.name, "base64url"):
		return base64Letters
	case strings.HasPrefix(c.name, "base64"):
		return base64Letters[:62] + "+/"
	default:
		return base64Letters[:62]
	}
}

func otherAlphabet(t *Trial) {
	swap := map[byte]byte{'-': '+', '_': '/', '+': '-', '/': '_'}
	t.everySpelling(func(p *Party, tok *Token) {
		for range 20 { // until a token has such a character
			if bytes.ContainsAny(tok.Text, "-_+/") {
				break
			}
			if next, ok := t.mint(p, t.state(24)); ok {
				tok = next
			}
		}
		all := bytes.Clone(tok.Text)
		for i, c := range tok.Text {
			if to, ok := swap[c]; ok {
				all[i] = to
				one := bytes.Clone(tok.Text)
				one[i] = to
				t.spelling(p, tok, one, fmt.Sprintf("%q for %q at %d", to, c, i))
			}
		}
		t.spelling(p, tok, all, "the other alphabet throughout")
	})
	if t.trials[codecs.Canonical] == 0 && t.skipped == "" {
		t.skip("no token has a character in which the base64 alphabets differ")
	}
}

func padding(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		s := tok.shape()
		for i := range s.pieces {
			body := strings.TrimRight(s.pieces[i].text, "=")
			for n := range 4 {
				t.spelling(p, tok, s.withText(i, body+strings.Repeat("=", n)), fmt.Sprintf("piece %d with %d characters of padding", i, n))
			}
		}
		t.spelling(p, tok, append([]byte("="), tok.Text...), "padding in front")
	})
}

// places are positions in text of length n: both ends, and some between.
func (t *Trial) places(n, some int) []int {
	at := []int{0, n}
	for range some {
		at = append(at, t.IntN(n+1))
	}
	return at
}

// inserted presents tok with each text inserted at several places.
func (t *Trial) inserted(p *Party, tok *Token, texts []string) {
	for _, x := range texts {
		at := t.places(len(tok.Text), 8)
		for i, c := range tok.Text {
			if !isBase64URL(c) && len(at) < 24 {
				at = append(at, i, i+1)
			}
		}
		for _, i := range at {
			altered := append(append(bytes.Clone(tok.Text[:i]), x...), tok.Text[i:]...)
			t.spelling(p, tok, altered, fmt.Sprintf("%q inserted at %d of %d", x, i, len(tok.Text)))
		}
	}
}

func whiteSpace(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		t.inserted(p, tok, []string{" ", "\n", "\r\n", "\r", "\t", "\f", "\v", "\u00a0", "\u2028"})
	})
}

func letterCase(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		text := string(tok.Text)
		t.spelling(p, tok, []byte(strings.ToUpper(text)), "upper case")
		t.spelling(p, tok, []byte(strings.ToLower(text)), "lower case")
		s := tok.shape()
		for i, piece := range s.pieces {
			t.spelling(p, tok, s.withText(i, strings.ToUpper(piece.text)), fmt.Sprintf("piece %d in upper case", i))
			t.spelling(p, tok, s.withText(i, strings.ToLower(piece.text)), fmt.Sprintf("piece %d in lower case", i))
		}
		for _, i := range t.places(len(text)-1, 12) {
			i = min(i, len(text)-1)
			t.spelling(p, tok, fmt.Appendf(nil, "%s%%%02X%s", text[:i], text[i], text[i+1:]), fmt.Sprintf("percent escape at %d", i))
		}
		t.spelling(p, tok, []byte(strings.NewReplacer("+", " ").Replace(text)), "space for plus")
		t.spelling(p, tok, []byte(strings.NewReplacer(".", "%2E").Replace(text)), "escaped full stops")
	})
}

func foreignCharacters(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		t.inserted(p, tok, []string{"\x00", "\ufeff", "\u200b", "\xff", "\xc3", "\u00ad", "!", "*", "#", "\\", "\""})
		for i, c := range tok.Text {
			if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				wide := string(rune(c) + 0xfee0)
				t.spelling(p, tok, fmt.Appendf(nil, "%s%s%s", tok.Text[:i], wide, tok.Text[i+1:]), fmt.Sprintf("full-width %q at %d", c, i))
				high := append(bytes.Clone(tok.Text[:i]), c|0x80)
				t.spelling(p, tok, append(high, tok.Text[i+1:]...), fmt.Sprintf("%q with its high bit at %d", c, i))
			}
			if i > 24 {
				break
			}
		}
	})
}

func otherSerialisation(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		s := tok.shape()
		var parts []string
		for _, i := range s.coded() {
			parts = append(parts, s.pieces[i].text)
		}
		text := string(tok.Text)
		variants := []string{
			`"` + text + `"`, `{"token":"` + text + `"}`, `["` + text + `"]`, "Bearer " + text, "token=" + text,
			"<" + text + ">", "'" + text + "'", text + "&x=1",
		}
		for _, sep := range []string{".", ":", "|", "~", ",", ";", "/", ""} {
			variants = append(variants, strings.Join(parts, sep), strings.ReplaceAll(text, ".", sep), strings.ReplaceAll(text, ":", sep))
		}
		if len(parts) >= 2 {
			last := len(parts) - 1
			variants = append(variants, fmt.Sprintf(`{"payload":"%s","signature":"%s"}`, parts[last-1], parts[last]))
		}
		if len(parts) >= 3 {
			variants = append(variants, fmt.Sprintf(`{"protected":"%s","payload":"%s","signature":"%s"}`, parts[0], parts[1], parts[2]))
		}
		for _, i := range s.coded() {
			for _, code := range textCodes {
				variants = append(variants, string(s.withText(i, code.encode(s.pieces[i].raw))))
			}
		}
		for _, v := range variants {
			t.spelling(p, tok, []byte(v), fmt.Sprintf("written as %.60q", v))
		}
	})
}

func trailingData(t *Trial) {
	t.everySpelling(func(p *Party, tok *Token) {
		text := string(tok.Text)
		for _, x := range []string{"A", "AA", "AAAA", "x", "0", "00", ".", ".x", ".A", "..", ":", ":x", "~", "|", "?", "&a=b", ";", ",", "." + text, text, "," + text} {
			t.spelling(p, tok, []byte(text+x), fmt.Sprintf("%.40q appended", x))
			t.spelling(p, tok, []byte(x+text), fmt.Sprintf("%.40q in front", x))
		}
		s := tok.shape()
		for i, piece := range s.pieces { // the digit zero of codes that write numbers
			for _, x := range []string{"0", "1", "11", "A", "!"} {
				t.spelling(p, tok, s.withText(i, x+piece.text), fmt.Sprintf("%q in front of piece %d", x, i))
			}
		}
		for _, i := range s.coded() {
			for _, tail := range [][]byte{{0}, {0, 0}, []byte("\n"), make([]byte, 16), t.bytes(16), s.pieces[i].raw} {
				altered := s.with(i, append(bytes.Clone(s.pieces[i].raw), tail...))
				t.spelling(p, tok, altered, fmt.Sprintf("%d bytes appended inside piece %d", len(tail), i))
			}
		}
	})
}
