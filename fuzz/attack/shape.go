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
type shape struct {
	pieces []piece
	worded bool // the first piece is a leading word that was cut from the second
}

// A piece is a run of a token's text.
type piece struct {
	text  string
	code  textCode // of a coded piece
	coded bool
	raw   []byte // the bytes of a coded piece
}

// shapeOf finds the shape of a token with the help of others of the same kind.
func shapeOf(token []byte, others ...[]byte) shape {
	rows := [][]string{pieces(string(token))}
	for _, o := range others {
		rows = append(rows, pieces(string(o)))
	}
	rows, worded := cutWords(rows)
	alike := slices.DeleteFunc(rows, func(row []string) bool { return len(row) != len(rows[0]) })
	s := shape{worded: worded}
	for i, text := range alike[0] {
		var column []string
		for _, row := range alike {
			column = append(column, row[i])
		}
		s.pieces = append(s.pieces, pieceOf(text, column))
	}
	return s
}

// pieceOf is text as one of a column of texts, which have one code or none.
func pieceOf(text string, column []string) piece {
	p := piece{text: text}
	if p.code, p.coded = codeOf(column); p.coded {
		p.raw, _ = p.code.holds(text)
	}
	return p
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

// cutWords cuts the leading word from each row of pieces where all have one, and
// reports whether they have. A random piece may well look as if it began with a
// word; that all of several do is no chance.
func cutWords(rows [][]string) ([][]string, bool) {
	var cut [][]string
	for _, row := range rows {
		if len(row) == 0 {
			return rows, false
		}
		word, rest, ok := cutWord(row[0])
		if !ok {
			return rows, false
		}
		cut = append(cut, slices.Concat([]string{word, rest}, row[1:]))
	}
	return cut, true
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

// altered is the shape with other bytes in piece i.
func (s shape) altered(i int, raw []byte) shape {
	s.pieces = slices.Clone(s.pieces)
	s.pieces[i].text, s.pieces[i].raw = s.pieces[i].code.encode(raw), raw
	return s
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

// spells reports whether a careless reader finds in text the bytes of the shape:
// it takes either case in hexadecimal and base32, either base64 alphabet, skips
// what belongs to no code, and does not mind what follows the bytes of a piece.
func (s shape) spells(text []byte) bool {
	found := [][]string{pieces(string(text))}
	if s.worded {
		found, _ = cutWords(found)
	}
	if len(found[0]) != len(s.pieces) {
		return bytes.Equal(lenient(text), lenient(s.text()))
	}
	for i, p := range s.pieces {
		if !p.spells(found[0][i]) {
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
