package attack

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// A shape is how the text of a token is made, as far as that can be told from
// the text: pieces, each a word or bytes in a text code, with separators
// between. It is found from several tokens and never from the design.
type shape struct{ pieces []piece }

// A piece is a run of a token's text.
type piece struct {
	text  string
	code  textCode // of a coded piece
	coded bool
	raw   []byte // the bytes of a coded piece
}

// shapeOf finds the shape of a token with the help of others of the same kind.
func shapeOf(token []byte, others ...[]byte) shape {
	split := [][]string{pieces(string(token))}
	for _, o := range others {
		if p := pieces(string(o)); len(p) == len(split[0]) {
			split = append(split, p)
		}
	}
	split = cutWords(split)
	var s shape
	for i, text := range split[0] {
		var column []string
		for _, row := range split {
			column = append(column, row[i])
		}
		p := piece{text: text}
		if p.code, p.coded = codeOf(column); p.coded {
			p.raw, _ = p.code.holds(text)
		}
		s.pieces = append(s.pieces, p)
	}
	return s
}

// pieces cuts text where it leaves or enters the letters of text codes.
func pieces(text string) []string {
	var out []string
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return !inText(r) })
		if n < 0 {
			n = len(text)
		}
		if n == 0 {
			n = strings.IndexFunc(text, inText)
			if n < 0 {
				n = len(text)
			}
		}
		if named := member.FindString(text[:n]); named != "" {
			n = len(named) - 1
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// cutWords cuts the leading word from each row of pieces where all have the same.
// A random piece may well look as if it began with one.
func cutWords(rows [][]string) [][]string {
	var cut [][]string
	for _, row := range rows {
		if len(row) == 0 {
			return rows
		}
		word, rest, ok := cutWord(row[0])
		if !ok || len(cut) > 0 && cut[0][0] != word {
			return rows
		}
		cut = append(cut, slices.Concat([]string{word, rest}, row[1:]))
	}
	return cut
}

// member finds a name, the '=' that stands between it and its value, and the
// first letter of that. Padding has nothing behind it.
var member = regexp.MustCompile(`^[A-Za-z0-9_]{1,12}=[^=]`)

// inText reports whether r is a letter of one of the text codes.
func inText(r rune) bool {
	return r < 128 && (isBase64URL(byte(r)) || r == '+' || r == '/' || r == '=')
}

// cutWord cuts a leading word with its '-' or '_' from text.
func cutWord(text string) (word, rest string, ok bool) {
	i := strings.IndexAny(text, "-_")
	if i < 1 || i > 10 || len(text) < i+1+minCoded {
		return "", "", false
	}
	for _, c := range text[:i] {
		if c >= 'A' && c <= 'Z' || c == '+' || c == '/' {
			return "", "", false
		}
	}
	return text[:i+1], text[i+1:], true
}

// coded returns the indices of the pieces that carry bytes.
func (s shape) coded() []int {
	var at []int
	for i, p := range s.pieces {
		if p.coded {
			at = append(at, i)
		}
	}
	return at
}

// with returns the token with other bytes in piece i.
func (s shape) with(i int, raw []byte) []byte {
	return s.withText(i, s.pieces[i].code.encode(raw))
}

// withText returns the token with another text for piece i.
func (s shape) withText(i int, text string) []byte {
	var b bytes.Buffer
	for j, p := range s.pieces {
		if j == i {
			b.WriteString(text)
			continue
		}
		b.WriteString(p.text)
	}
	return b.Bytes()
}

// raws are the bytes of the coded pieces, one after another.
func (s shape) raws() []byte {
	var all []byte
	for _, p := range s.pieces {
		all = append(all, p.raw...)
	}
	return all
}

// words are the pieces that carry no bytes, one after another.
func (s shape) words() string {
	var all strings.Builder
	for _, p := range s.pieces {
		if !p.coded {
			all.WriteString(p.text)
		}
	}
	return all.String()
}

// shapes mints three more tokens beside tok and returns its shape.
func (t *Trial) shape(p *Party, tok *Token) shape {
	var others [][]byte
	for _, n := range []int{23, 22, 21} {
		if c := p.seal(t.state(n), tok.Under); len(c.Answer.Out) > 0 {
			others = append(others, c.Answer.Out)
		}
	}
	return shapeOf(tok.Text, others...)
}

// spells reports whether a careless reader finds in text the bytes of the shape:
// it takes either case in hexadecimal and base32, either base64 alphabet, skips
// what belongs to no code, and does not mind what follows the bytes of a piece.
func (s shape) spells(text []byte) bool {
	found := shapeOf(text)
	if len(found.pieces) != len(s.pieces) {
		return bytes.Equal(lenient(text), lenient(s.text()))
	}
	for i, p := range s.pieces {
		if !p.spells(found.pieces[i].text) {
			return false
		}
	}
	return true
}

func (p piece) spells(text string) bool {
	switch {
	case !p.coded:
		return text == p.text
	case strings.EqualFold(text, p.text) && !strings.HasPrefix(p.code.name, "base64"):
		return true
	}
	raw, err := p.code.decode(text)
	if err == nil {
		return bytes.HasPrefix(raw, p.raw)
	}
	return strings.HasPrefix(p.code.name, "base64") && bytes.Equal(lenient([]byte(text)), p.raw)
}

// text is the whole token.
func (s shape) text() []byte { return s.withText(-1, "") }
