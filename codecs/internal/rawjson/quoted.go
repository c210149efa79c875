package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// ones has the value 1 in each of its 8 bytes. tops has the highest bit of each
// set.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
	word = 8 // number of bytes examined at a time
)

// Slack is the number of bytes after their results that Append and Cut may
// write to dst.
const Slack = 64

// The classes of bytes. Bit 0 is set in those that cutBytes keeps, and bit 1 in
// those that it accepts after a backslash.
const (
	backslash = 0
	usual     = 1
	quotation = 3
	unusual   = 4
)

// A Quoting is the way in which one implementation quotes strings. NewQuoting
// makes it. It is immutable.
type Quoting struct {
	// plain marks the bytes that are not escaped.
	plain   [256]bool
	classes [256]uint8
	// high masks the bytes from 0x80 on if they are escaped. extra repeats the
	// byte that is escaped besides the control characters, " and \.
	high, extra uint64
	letters     [256]byte // letter of the escape of a byte, or 0
	unletters   [256]byte // byte that a letter stands for
	escape      func(dst, text []byte, at int) ([]byte, int)
}

// NewQuoting returns a quoting that escapes control characters, ", \ and the
// byte extra, and all bytes from 0x80 on if ascii is true. pairs lists the
// escapes with a letter: a byte, then its letter. escape appends the escape of
// the code point at text[at], which has no letter, and returns its length in
// text in bytes. If ascii is true, it must escape code points from 0x80 to
// 0xffff as \u and four lower-case digits.
func NewQuoting(ascii bool, extra byte, pairs string, escape func(dst, text []byte, at int) ([]byte, int)) *Quoting {
	q := &Quoting{extra: ones * uint64(extra), escape: escape}
	if ascii {
		q.high = tops
	}
	for c := ' '; c <= 0xff; c++ {
		q.plain[c] = c < 0x80 || !ascii
	}
	q.plain['"'], q.plain['\\'], q.plain[extra] = false, false, false
	for c, plain := range q.plain {
		if q.classes[c] = unusual; plain {
			q.classes[c] = usual
		}
	}
	q.classes['"'], q.classes['\\'] = quotation, backslash
	for i := 0; i < len(pairs); i += 2 {
		q.letters[pairs[i]], q.unletters[pairs[i+1]] = pairs[i+1], pairs[i]
	}
	return q
}

// escaped returns a mask of the bytes of x that are " or \, and in others a
// mask of the other bytes that are escaped. Byte i has bit 8*i+7. The sum of a
// byte under 0x80 and 0x7f does not carry into the next byte.
func escaped(x uint64) uint64 {
	low := x &^ tops
	return ^((low^ones*'"'+ones*0x7f)&(low^ones*'\\'+ones*0x7f) | x) & tops
}

func (q *Quoting) others(x uint64) uint64 {
	other := x ^ q.extra
	control := x&^tops + ones*(0x80-' ') | x
	return ^(control&(other&^tops+ones*0x7f|other))&tops | x&q.high
}

// first returns the index of the lowest byte in a mask, or 8 if the mask is
// empty.
func first(mask uint64) int { return bits.TrailingZeros64(mask) / 8 }

// under returns the bytes of a mask below byte n.
func under(mask uint64, n int) uint64 { return mask & (1<<(8*n) - 1) }

// Append appends text as a quoted string. Text is generalized UTF-8.
func (q *Quoting) Append(dst, text []byte) []byte {
	dst, _ = q.append(dst, text)
	return dst
}

// AppendWTF8 appends text as Append does and reports whether it is WTF-8: see
// ValidWTF8.
func (q *Quoting) AppendWTF8(dst, text []byte) ([]byte, bool) {
	dst, judged := q.append(dst, text)
	//mutant:equivalent vectors present tokens, and all of them are minted from text
	return dst, judged || ValidWTF8(text)
}

// append implements Append. judged reports whether text is known to be WTF-8.
func (q *Quoting) append(dst, text []byte) (_ []byte, judged bool) {
	judged = q.high != 0
	dst = append(slices.Grow(dst, len(text)+len(text)/8+Slack), '"')
	for at := 0; at < len(text); {
		var n int
		dst, n = q.appendBlocks(dst, text[at:])
		if at += n; at == len(text) {
			break
		}
		switch c := text[at]; {
		case q.letters[c] != 0:
			dst = append(dst, '\\', q.letters[c])
			at++
		case q.plain[c]:
			dst = append(dst, c)
			at++
		default:
			for at < len(text) && !q.plain[text[at]] && q.letters[text[at]] == 0 {
				if r, size := q.short(text[at:]); size > 0 {
					dst, n = AppendHex(dst, r, LowerHex), size
				} else {
					judged = judged && text[at] < utf8.RuneSelf
					dst, n = q.escape(dst, text, at)
				}
				at += n
			}
		}
	}
	return append(dst, '"'), judged
}

// short returns the character at the start of text and its length, if it has
// two or three bytes and the quoting is for ASCII. Otherwise the length is 0.
func (q *Quoting) short(text []byte) (r rune, n int) {
	if q.high == 0 || len(text) < 3 {
		return 0, 0
	}
	a, b, c := rune(text[0]), rune(text[1]), rune(text[2])
	if a&0xf0 == 0xe0 && b&0xc0 == 0x80 && c&0xc0 == 0x80 {
		r, n = a&0x0f<<12|b&0x3f<<6|c&0x3f, 3
	} else if a&0xe0 == 0xc0 && b&0xc0 == 0x80 {
		r, n = a&0x1f<<6|b&0x3f, 2
	}
	if r < 0x80 || n == 3 && r < 0x800 || isHigh(r) || isLow(r) {
		return 0, 0
	}
	return r, n
}

// appendWords appends the escaped form of the first n bytes of text. It stops
// before a byte in the mask others, at the last 7 bytes, or if dst has no room.
// To avoid branches it writes a word again, shifted, for each of its first two
// escapes. This may write up to 2 words after the result.
func (q *Quoting) appendWords(dst, text []byte) (out []byte, n int) {
	for end := len(dst); len(text)-n >= word && cap(dst)-end >= 4*word; dst = dst[:end] {
		x, size := binary.LittleEndian.Uint64(text[n:]), word
		mask, others := escaped(x), q.others(x)
		if others != 0 {
			size = first(others)
			mask = under(mask, size)
		}
		a := first(mask)
		mask &= mask - 1
		b := first(mask)
		if mask &= mask - 1; mask != 0 {
			size = first(mask)
		}
		to := (*[4 * word]byte)(dst[end : end+4*word])
		binary.LittleEndian.PutUint64(to[:], x)
		to[a&15] = '\\'
		binary.LittleEndian.PutUint64(to[a&15+1:], x>>(8*a&63))
		to[b&15+1] = '\\'
		binary.LittleEndian.PutUint64(to[b&15+2:], x>>(8*b&63))
		n += size
		end += size + 2 - a/word - b/word
		if others != 0 && mask == 0 {
			return dst[:end], n
		}
	}
	return dst, n
}

// AppendText appends a Go string as Append does.
func (q *Quoting) AppendText(dst []byte, text string) []byte {
	if !q.isPlain([]byte(text)) {
		return q.Append(dst, []byte(text))
	}
	return append(append(append(dst, '"'), text...), '"')
}

// isPlain reports whether text consists of plain bytes, without branching on
// them.
func (q *Quoting) isPlain(text []byte) bool {
	if len(text) < word {
		return !slices.ContainsFunc(text, func(c byte) bool { return !q.plain[c] })
	}
	last := binary.LittleEndian.Uint64(text[len(text)-word:])
	marks := escaped(last) | q.others(last)
	for ; len(text) > word; text = text[word:] {
		x := binary.LittleEndian.Uint64(text)
		marks |= escaped(x) | q.others(x)
	}
	return marks == 0
}

// Cut parses the string at the start of quoted, in the form of Append. It
// appends the text to dst and returns the rest of quoted. If quoted does not
// begin with an output of Append, it reports false and returns dst unchanged.
func (q *Quoting) Cut(dst, quoted []byte) (text, rest []byte, ok bool) {
	if len(quoted) == 0 || quoted[0] != '"' {
		return dst, quoted, false
	}
	start, src := len(dst), quoted[1:]
	for len(src) > 0 {
		var n int
		dst, n = q.cutBlocks(dst, src)
		if src = src[n:]; len(src) == 0 {
			break
		}
		switch c := src[0]; {
		case c == '\\' && len(src) > 1 && q.unletters[src[1]] != 0:
			dst, src = append(dst, q.unletters[src[1]]), src[2:]
		case c == '"':
			return dst, src[1:], true
		case q.plain[c]:
			dst, src = append(dst, c), src[1:]
		default:
			if dst, src, ok = q.cutEscape(dst, src, start); !ok {
				return dst[:start], quoted, false
			}
		}
	}
	return dst[:start], quoted, false
}

// CutWhole parses quoted, which must be an output of Append as a whole, and
// appends its text to dst. Otherwise it reports false, returns dst unchanged and
// clears what it wrote.
func (q *Quoting) CutWhole(dst, quoted []byte) (text []byte, ok bool) {
	room := dst
	if cap(dst)-len(dst) < len(quoted)/6 { // too small even if every character is an escape
		room = slices.Grow(dst, len(quoted))
	}
	text, rest, ok := q.Cut(room, quoted)
	if ok && len(rest) == 0 {
		return text, true
	}
	clear(room[len(dst):min(len(dst)+len(quoted)+Slack, cap(room))])
	return dst, false
}

// cutBytes appends the text of the first n bytes of src, which are plain or \".
// It stops before any other byte, or if dst has no room. To avoid branches it
// writes a backslash and overwrites it.
func (q *Quoting) cutBytes(dst, src []byte) (out []byte, n int) {
	room, classes := dst[len(dst):cap(dst)], &q.classes
	src = src[:min(len(src), len(room))]
	end, kept := 0, 1 // kept is 0 after a backslash
	for i, c := range src {
		k := int(classes[c])
		if k>>1^kept != 1 { // a quotation mark must follow a backslash, and a plain byte must not
			return dst[:len(dst)+end], i + kept - 1
		}
		kept = k & 1
		room[end] = c
		end += kept
	}
	return dst[:len(dst)+end], len(src) + kept - 1
}

// cutEscape parses one code point at src whose escape has no letter. The
// decoded string begins at dst[start]. It encodes the code point again and
// compares, so that only the form of Append is accepted.
func (q *Quoting) cutEscape(dst, src []byte, start int) (text, rest []byte, ok bool) {
	at := len(dst)
	if len(src) >= 6 && src[0] == '\\' && src[1] == 'u' {
		r := unhex[src[2]]<<12 | unhex[src[3]]<<8 | unhex[src[4]]<<4 | unhex[src[5]]
		if q.high != 0 && r >= 0x80 && !isHigh(r) && !isLow(r) {
			return utf8.AppendRune(dst, r), src[6:], true
		}
	}
	if src[0] == '\\' {
		p := parser{src: src}
		r, ok := p.escape()
		if !ok {
			return dst, src, false
		}
		dst = AppendRune(dst, r)
	} else {
		_, n := DecodeRune(src)
		dst = append(dst, src[:n]...)
	}
	end := len(dst)
	if c := dst[at]; q.plain[c] || q.letters[c] != 0 {
		return dst, src, false
	}
	dst, _ = q.escape(dst, dst[start:end], at-start)
	rest, ok = bytes.CutPrefix(src, dst[end:])
	return dst[:end], rest, ok
}

// unhex maps lower-case hexadecimal digits to their values, and other bytes to
// -1.
var unhex = func() (t [256]rune) {
	for c := range t {
		t[c] = rune(strings.IndexByte(LowerHex, byte(c)))
	}
	return t
}()
