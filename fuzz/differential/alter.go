package differential

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// alterAll returns n tokens, each a copy of one of tokens with one or two changes to its text.
// The worker protocol can carry all of them.
func (r *round) alterAll(tokens [][]byte, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		t := bytes.Clone(pickOne(r, tokens))
		for range 1 + r.IntN(2) {
			t = pickOne(r, alterations)(r, t, tokens)
		}
		all[i] = protocolText(t)
	}
	return all
}

// alterations are changes to the text of a token. Each may modify t and return part of it.
// others are tokens to take parts from.
var alterations = []func(r *round, t []byte, others [][]byte) []byte{
	(*round).replaceCharacter, (*round).replaceCharacter, (*round).flipBit, (*round).flipBit, (*round).flipBit,
	(*round).insertCharacter, (*round).insertCharacter, (*round).removeCharacter, (*round).truncate,
	(*round).spareBits, (*round).spareBits, (*round).foreignAlphabet, (*round).pad, (*round).splice,
	(*round).changePrefix, (*round).repeatSegment, (*round).flipCase, (*round).insertSurrogate,
}

const base64URLAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// oddCharacters are characters that lenient decoders skip or confuse.
var oddCharacters = []string{" ", "\t", "\n", "\r", "\f", "\v", "\x00", ".", "=", "+", "/", "-", "_", "\u00a0", "é", "\ufeff", "%", "A", "\u2028"}

func (r *round) replaceCharacter(t []byte, _ [][]byte) []byte {
	if len(t) == 0 {
		return t
	}
	t[r.IntN(len(t))] = base64URLAlphabet[r.IntN(len(base64URLAlphabet))]
	return t
}

// flipBit changes one bit of the value of a character.
func (r *round) flipBit(t []byte, _ [][]byte) []byte {
	if len(t) == 0 {
		return t
	}
	i := r.IntN(len(t))
	if v := bytes.IndexByte([]byte(base64URLAlphabet), t[i]); v >= 0 {
		t[i] = base64URLAlphabet[v^1<<r.IntN(6)]
	}
	return t
}

// spareBits changes the unused bits of the last character of a segment.
func (r *round) spareBits(t []byte, _ [][]byte) []byte {
	end := len(t)
	if dot := bytes.LastIndexByte(t, '.'); dot > 0 && r.IntN(2) == 0 {
		end = dot
	}
	if end == 0 {
		return t
	}
	if v := bytes.IndexByte([]byte(base64URLAlphabet), t[end-1]); v >= 0 {
		t[end-1] = base64URLAlphabet[v^(1+r.IntN(15))]
	}
	return t
}

func (r *round) insertCharacter(t []byte, _ [][]byte) []byte {
	at := r.place(t)
	return slices.Concat(t[:at], []byte(pickOne(r, oddCharacters)), t[at:])
}

// insertSurrogate inserts a lone surrogate, which UTF-8 cannot encode. The worker protocol
// escapes it.
func (r *round) insertSurrogate(t []byte, _ [][]byte) []byte {
	at := r.place(t)
	return slices.Concat(t[:at], []byte(pickOne(r, []string{"\xed\xa0\x80", "\xed\xbf\xbf"})), t[at:])
}

// place returns an index into t, often its end or a separator.
func (r *round) place(t []byte) int {
	switch r.IntN(4) {
	case 0:
		return len(t)
	case 1:
		return max(0, bytes.LastIndexByte(t, '.'))
	default:
		return r.IntN(len(t) + 1)
	}
}

func (r *round) removeCharacter(t []byte, _ [][]byte) []byte {
	if len(t) == 0 {
		return t
	}
	at := r.IntN(len(t))
	return append(t[:at], t[at+1:]...)
}

func (r *round) truncate(t []byte, _ [][]byte) []byte {
	at := r.place(t)
	if r.IntN(3) == 0 {
		return t[at:]
	}
	return t[:at]
}

func (r *round) foreignAlphabet(t []byte, _ [][]byte) []byte {
	t = bytes.ReplaceAll(t, []byte("-"), []byte("+"))
	return bytes.ReplaceAll(t, []byte("_"), []byte("/"))
}

func (r *round) pad(t []byte, _ [][]byte) []byte {
	return append(t, pickOne(r, []string{"=", "==", "===", "====", " =", "=\n", "=A"})...)
}

// splice joins the head of t and the tail of a token.
func (r *round) splice(t []byte, others [][]byte) []byte {
	other := pickOne(r, others)
	at := r.place(t)
	return slices.Concat(t[:at], other[min(at, len(other)):])
}

func (r *round) changePrefix(t []byte, _ [][]byte) []byte {
	_, rest, _ := bytes.Cut(t, []byte("."))
	return append([]byte(pickOne(r, []string{"", "v1", "V1.", "v2.", "v1..", "v1e.", ".", " v1.", "v1. ", "v01."})), rest...)
}

// repeatSegment inserts one of the dot-separated parts again.
func (r *round) repeatSegment(t []byte, _ [][]byte) []byte {
	parts := bytes.Split(t, []byte("."))
	at := r.IntN(len(parts))
	return bytes.Join(slices.Insert(slices.Clone(parts), at, parts[r.IntN(len(parts))]), []byte("."))
}

func (r *round) flipCase(t []byte, _ [][]byte) []byte {
	if len(t) == 0 {
		return t
	}
	if i := r.IntN(len(t)); 'a' <= t[i]|0x20 && t[i]|0x20 <= 'z' {
		t[i] ^= 0x20
	}
	return t
}

// protocolText returns t as the worker protocol can carry it, with other bytes replaced by U+FFFD.
// A JSON string holds UTF-8 and lone surrogates, which are three bytes each here, as in package
// worker. A decoder would combine two surrogates that form a pair into one character.
func protocolText(t []byte) []byte {
	out := make([]byte, 0, len(t))
	high := false // the last character was a lone leading surrogate
	for len(t) > 0 {
		size, leading := 1, false
		switch r, n := utf8.DecodeRune(t); {
		case r != utf8.RuneError || n > 1:
			size = n
			out = append(out, t[:size]...)
		case isSurrogate(t) && (isLeading(t) || !high):
			size, leading = 3, isLeading(t)
			out = append(out, t[:size]...)
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		t, high = t[size:], leading
	}
	return out
}

// canCross reports whether the worker protocol carries t unchanged.
func canCross(t []byte) bool { return bytes.Equal(t, protocolText(t)) }

// isSurrogate reports whether t begins with the three bytes of a surrogate.
func isSurrogate(t []byte) bool {
	return len(t) >= 3 && t[0] == 0xED && 0xA0 <= t[1] && t[1] <= 0xBF && 0x80 <= t[2] && t[2] <= 0xBF
}

// isLeading reports whether the surrogate at the start of t is the first of a
// pair.
func isLeading(t []byte) bool { return t[1] < 0xB0 }
