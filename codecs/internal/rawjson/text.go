package rawjson

import (
	"iter"
	"unicode/utf16"
	"unicode/utf8"

	vectors "github.com/segmentio/asm/utf8"
)

// ends marks the bytes that may end a run of unescaped characters.
var ends = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// text reads a string at its opening quotation mark. A string that is a single
// run shares memory with the document.
func (p *parser) text(out *[]byte) bool {
	p.at++
	var joined []byte // nil while there is one run
	for {
		run := p.run()
		if p.at == len(p.src) {
			return p.fail("an unfinished string")
		}
		switch c := p.src[p.at]; {
		case c == '"' && p.at < p.closing:
			p.at++
			joined = append(append(roomFor(joined, run), run...), c)
		case c == '"':
			p.at++
			if *out = run; joined != nil {
				*out = append(joined, run...)
			}
			return true
		case c == '\\':
			r, ok := p.escape()
			if !ok {
				return p.fail("a wrong escape")
			}
			joined = append(roomFor(joined, run), run...)
			if r != invalid {
				joined = AppendRune(joined, r)
			}
		case p.Controls:
			p.at++
			joined = append(append(roomFor(joined, run), run...), c)
		default:
			return p.fail("a control character in a string")
		}
	}
}

// run skips the unescaped characters at the current position and returns them.
func (p *parser) run() []byte {
	start, end := p.at, p.at
	for end < len(p.src) && !ends[p.src[end]] {
		end++
	}
	p.at = end
	return p.src[start:end:end]
}

// roomFor returns joined, or a new buffer for about twice the first run.
func roomFor(joined, run []byte) []byte {
	if joined != nil {
		return joined
	}
	return make([]byte, 0, 2*len(run)+64)
}

// short maps letters to the characters that their escapes represent.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape sequence, or two that form a surrogate pair. It
// returns invalid for a backslash that is dropped.
func (p *parser) escape() (rune, bool) {
	p.at++
	c := p.next()
	if c != 'u' {
		return p.shortEscape(c)
	}
	p.at++
	r, ok := p.unit(p.at)
	if !ok {
		return 0, false
	}
	p.at += 4
	switch {
	case p.Halves && isHigh(r):
		return p.half(r)
	case p.AnyPair && isHigh(r):
		return p.pairOf(r)
	}
	if rest := p.src[p.at:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hex4(rest[2:]); ok && isPair(r, low) {
			p.at += 6
			return utf16.DecodeRune(r, low), true
		}
	}
	return r, true
}

// pairOf reads the low surrogate after a high one. Any character may be in
// place of the backslash.
func (p *parser) pairOf(high rune) (rune, bool) {
	_, skipped := DecodeRune(p.src[p.at:])
	rest := p.src[p.at+skipped:]
	if len(rest) == 0 || rest[0] != 'u' {
		return 0, false
	}
	low, ok := hex4(rest[1:])
	if !ok || !isLow(low) {
		return 0, false
	}
	p.at += skipped + len(`u0000`)
	return utf16.DecodeRune(high, low), true
}

// half reads an escaped high surrogate as Ruby's json 2.6 does. Followed by any
// escaped code unit, it is a character. Followed by other text, it becomes a
// question mark that replaces both the surrogate and the next byte. With fewer
// than six bytes left in the string, it is an error. Ruby finds the end of the
// string beforehand, so a quotation mark whose backslash was replaced is an
// ordinary character.
func (p *parser) half(high rune) (rune, bool) {
	const escape = len(`\u0000`)
	if p.at >= p.closing {
		p.closing = p.untilQuote()
	}
	if p.closing < p.at+escape {
		return 0, false
	}
	if p.src[p.at] != '\\' || p.src[p.at+1] != 'u' {
		p.at++
		return '?', true
	}
	low, ok := p.unit(p.at + 2)
	p.at += escape
	return (high&0x3f)<<10 | (high>>6&0xf+1)<<16 | low&0x3ff, ok
}

// untilQuote returns the position of the quotation mark that ends the current
// string, or 0 if there is a fault before it.
func (p *parser) untilQuote() int {
	for i := p.at; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c < ' ':
			return 0
		case c == '"':
			return i
		case c == '\\':
			i++
			if _, ok := hex4(p.src[min(i+1, len(p.src)):]); !ok && i < len(p.src) && p.src[i] == 'u' {
				return 0
			}
		}
	}
	return 0
}

// unit returns the code unit of four hexadecimal digits. After a replaced
// backslash Ruby reads other characters as U+FFFD.
func (p *parser) unit(at int) (rune, bool) {
	if r, ok := hex4(p.src[at:]); ok {
		return r, true
	}
	return utf8.RuneError, at+4 <= p.closing
}

// shortEscape reads the rest of an escape other than \u.
func (p *parser) shortEscape(c byte) (rune, bool) {
	if short[c] == 0 && p.AnyEscape && c >= ' ' {
		return invalid, true // the next run begins with the character
	}
	if short[c] == 0 {
		return 0, false
	}
	p.at++
	return rune(short[c]), true
}

func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range s[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func isHigh(r rune) bool      { return 0xd800 <= r && r < 0xdc00 }
func isLow(r rune) bool       { return 0xdc00 <= r && r < 0xe000 }
func isPair(h, low rune) bool { return isHigh(h) && isLow(low) }

// AppendRune appends r, which may be a surrogate, in generalized UTF-8.
func AppendRune(dst []byte, r rune) []byte {
	if isHigh(r) || isLow(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(dst, r)
}

// DecodeRune returns the first code point of s, which may be a surrogate, and
// its length in bytes. If s does not begin with generalized UTF-8, it returns
// utf8.RuneError with length 1, or with length 0 if s is empty.
func DecodeRune(s []byte) (rune, int) {
	r, n := utf8.DecodeRune(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return r, n
}

// invalid marks a byte that is not part of generalized UTF-8.
const invalid = -1

// runes iterates over the code points of s.
func runes(s []byte) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for len(s) > 0 {
			r, n := DecodeRune(s)
			if r == utf8.RuneError && n == 1 {
				r = invalid
			}
			if !yield(r) {
				return
			}
			s = s[n:]
		}
	}
}

// ValidUTF8 reports whether s is UTF-8. It is utf8.Valid with vector
// instructions, which take a third of the time for a text of 1 KiB.
func ValidUTF8(s []byte) bool { return vectors.Valid(s) }

// Valid reports whether s is generalized UTF-8.
func Valid(s []byte) bool {
	if ValidUTF8(s) {
		return true
	}
	for r := range runes(s) {
		if r == invalid {
			return false
		}
	}
	return true
}

// ValidWTF8 reports whether s is WTF-8: generalized UTF-8 that contains no pair
// encoded as two surrogates. Only such text keeps its bytes in JSON.
func ValidWTF8(s []byte) bool {
	if ValidUTF8(s) {
		return true
	}
	var last rune
	for r := range runes(s) {
		//mutant:equivalent a vector's context cannot hold the bytes, and in claims a second check finds them
		if r == invalid || isPair(last, r) {
			return false
		}
		last = r
	}
	return true
}
