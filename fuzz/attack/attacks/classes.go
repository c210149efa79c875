package attacks

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"sealab/fuzz/attack"
)

// A textPair holds a text of a class that a design may pack into fewer bytes, and the same text with
// one character from outside the class.
type textPair struct{ text, other []byte }

// textPairs returns a pair of each class, of texts of n characters if the class has no length of its
// own. No text is JSON.
func (t trial) textPairs(n int) (all []textPair) {
	add := func(text []byte, in, out byte) {
		at := len(text)/2 + 2
		text[at] = in
		other := bytes.Clone(text)
		other[at] = out
		all = append(all, textPair{text, other})
	}
	for _, digits := range []string{"0123456789", "0123456789abcdef", "0123456789ABCDEF"} {
		add(append([]byte("0"), t.drawn(digits, n-1)...), '7', 'Z')
	}
	for _, letters := range []string{"abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz234567", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"} {
		add(append([]byte{letters[0]}, t.drawn(letters, n-1)...), letters[24], '~')
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for _, padding := range []int{0, 2} {
			add(encoding.AppendEncode(nil, append([]byte(`{"s":`), t.Bytes(n/4*3-5-padding)...)), 'y', '~')
		}
	}
	hex := t.drawn("0123456789abcdef", 32)
	uuid := fmt.Appendf(nil, "0%s-%s-4%s-a%s-%s", hex[1:8], hex[8:12], hex[13:16], hex[17:20], hex[20:])
	add(uuid, '7', 'Z')
	add(bytes.ToUpper(uuid), '7', 'Z')
	add(fmt.Appendf(nil, "0%s", t.drawn("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25)), 'Y', '~') // ULID
	add(fmt.Appendf(nil, "2%s-11-20T12:02:03.%sZ", t.drawn("0123", 3), t.drawn("0123456789", 6)), '2', 'Z')
	return all
}

// drawn returns n random characters of an alphabet.
func (t trial) drawn(alphabet string, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[t.IntN(len(alphabet))]
	}
	return text
}

// packedTexts seals texts of each class, alone and in JSON.
func (t trial) packedTexts(in *attack.Instance, tok *attack.Token) {
	for class := range t.textPairs(packedLengths[0]) {
		for _, form := range []string{"%s", `"%s"`, `{"step":"%s"}`} {
			if t.packed(in, tok, form, class) {
				return
			}
		}
	}
}

// packedLengths are the lengths of texts that all have to be packed before a design is accused.
var packedLengths = []int{200, 264, 328, 456}

// packed refutes if texts of a class give much shorter tokens than with one character changed. An
// encoding with a length per byte changes the length of a token by a few characters.
func (t trial) packed(in *attack.Instance, tok *attack.Token, form string, class int) bool {
	var state, other []byte
	for _, n := range packedLengths {
		pair := t.textPairs(n)[class]
		state, other = fmt.Appendf(nil, form, pair.text), fmt.Appendf(nil, form, pair.other)
		calls := in.Seals(tok.Under, [][]byte{state, other})
		if len(calls) < 2 || len(calls[1].Answer.Out) <= len(calls[0].Answer.Out)+max(8, len(pair.text)/8) {
			return false
		}
	}
	return t.shorterThan(in, tok, state, other)
}
