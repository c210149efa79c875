package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// ones has the value 1 in each of its 8 bytes, and tops the highest bit of each.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
	word = 8 // bytes that are examined at a time
)

// A Quoting is the way in which one implementation writes strings. It is made
// by NewQuoting and does not change afterwards.
type Quoting struct {
	// plain marks the bytes that stand in a string as they are.
	plain [256]bool
	// high masks the bytes from 0x80 on if they are not plain. extra repeats a
	// byte that is not plain beside the control characters, " and \.
	high, extra uint64
	letters     [256]byte // byte to the letter of its escape, or 0
	unletters   [256]byte // letter to the byte that it stands for
	escape      func(dst, text []byte, at int) ([]byte, int)
}

// NewQuoting returns a quoting in which control characters, ", \ and the byte
// extra are not plain, and no byte from 0x80 on if ascii is set. Pairs are the
// escapes of one letter: a byte, then its letter. The function escape appends
// the escape of the code point at text[at], which is not plain and has no
// letter, and returns its length in text in bytes.
func NewQuoting(ascii bool, extra byte, pairs string, escape func(dst, text []byte, at int) ([]byte, int)) *Quoting {
	q := &Quoting{extra: ones * uint64(extra), escape: escape}
	if ascii {
		q.high = tops
	}
	for c := ' '; c <= 0xff; c++ {
		q.plain[c] = c < 0x80 || !ascii
	}
	q.plain['"'], q.plain['\\'], q.plain[extra] = false, false, false
	for i := 0; i < len(pairs); i += 2 {
		q.letters[pairs[i]], q.unletters[pairs[i+1]] = pairs[i+1], pairs[i]
	}
	return q
}

// notPlain returns a mask whose lowest bit is in the first byte of x, in
// little-endian order, that is not plain. The mask is 0 if all 8 are plain.
func (q *Quoting) notPlain(x uint64) uint64 {
	quote, slash, other := x^(ones*'"'), x^(ones*'\\'), x^q.extra
	m := (x - ones*' ') & ^x
	m |= (quote - ones) & ^quote
	m |= (slash - ones) & ^slash
	m |= (other - ones) & ^other
	return m&tops | x&q.high
}

// Append appends text as a quoted string. Text is generalised UTF-8.
func (q *Quoting) Append(dst, text []byte) []byte {
	dst = append(slices.Grow(dst, len(text)+2), '"')
	for at := 0; at < len(text); {
		if len(text)-at >= word && cap(dst)-len(dst) >= word {
			x, end := binary.LittleEndian.Uint64(text[at:]), len(dst)
			n := bits.TrailingZeros64(q.notPlain(x)) / 8
			binary.LittleEndian.PutUint64(dst[end:end+word], x)
			dst = dst[:end+n]
			if at += n; n == word {
				continue
			}
		}
		switch c := text[at]; {
		case q.letters[c] != 0:
			dst = append(dst, '\\', q.letters[c])
			at++
		case q.plain[c]:
			dst = append(dst, c)
			at++
		default:
			var n int
			dst, n = q.escape(dst, text, at)
			at += n
		}
	}
	return append(dst, '"')
}

// AppendText is Append for a Go string.
func (q *Quoting) AppendText(dst []byte, text string) []byte {
	for i := range len(text) {
		if !q.plain[text[i]] {
			return q.Append(dst, []byte(text))
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

// Cut reads the string at the start of quoted, in the form of Append. It appends
// the text to dst and returns the rest of quoted. It reports false if quoted does
// not begin with an output of Append; dst is then returned as it was.
func (q *Quoting) Cut(dst, quoted []byte) (text, rest []byte, ok bool) {
	if len(quoted) == 0 || quoted[0] != '"' {
		return dst, quoted, false
	}
	start, src := len(dst), quoted[1:]
	for len(src) > 0 {
		if len(src) >= word && cap(dst)-len(dst) >= word {
			x, end := binary.LittleEndian.Uint64(src), len(dst)
			n := bits.TrailingZeros64(q.notPlain(x)) / 8
			binary.LittleEndian.PutUint64(dst[end:end+word], x)
			dst, src = dst[:end+n], src[n:]
			if n == word {
				continue
			}
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

// cutEscape reads one code point at src that has an escape without a letter. The
// decoded string begins at dst[start]. The code point is encoded again: the
// result does not depend on how it was decoded.
func (q *Quoting) cutEscape(dst, src []byte, start int) (text, rest []byte, ok bool) {
	at := len(dst)
	p := parser{src: src}
	if src[0] == '\\' {
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
