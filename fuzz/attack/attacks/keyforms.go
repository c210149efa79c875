package attacks

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
)

// same presents a token minted under one secret to another secret that may give the same key.
func (t trial) same(a, b []byte, how string) {
	ia, ib, ok := t.pair(a, b)
	if !ok || bytes.Equal(a, b) {
		return
	}
	tok, ok := t.Mint(ia, t.State(24))
	if !ok {
		return
	}
	t.Refuses(codecs.KeySeparation, ib, tok.Sealed, tok.Under, "two different secrets open each other's tokens: %s", how)
}

func (t trial) equivalentKeys() {
	k := t.Secret(0)
	for _, n := range []int{1, 8, 32} {
		t.same(k, append(bytes.Clone(k), make([]byte, n)...), fmt.Sprintf("K and K with %d zero bytes behind it", n))
		t.same(k, append(make([]byte, n), k...), fmt.Sprintf("K and K with %d zero bytes in front of it", n))
	}
	for _, n := range []int{65, 80, 129, 200} {
		long := bytes.Repeat(k, 7)[:n]
		sum := sha256.Sum256(long)
		t.same(long, sum[:], fmt.Sprintf("a secret of %d bytes and its SHA-256", n))
	}
	t.shortHashesOfKeys()
	if t.Tried(codecs.KeySeparation) == 0 {
		t.Skip("the design takes secrets of one length only")
	}
}

func (t trial) formsOfKeys() {
	k, tail := t.Secret(0), t.Secret(1)
	k[5], k[31] = 'a', 'b'
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	t.same(k, []byte(hex.EncodeToString(k)), "K and its hexadecimal text")
	t.same(k, []byte(base64.StdEncoding.EncodeToString(k)), "K and its base64 text")
	t.same(k, []byte(base64.RawURLEncoding.EncodeToString(k)), "K and its base64url text")
	for _, n := range []int{32, 48, 64, 128, 256} {
		t.same(join(bytes.Repeat(k, 8)[:n], tail), join(bytes.Repeat(k, 8)[:n], k), fmt.Sprintf("secrets that differ behind byte %d", n))
	}
	other := t.Secret(2)
	t.same(join(k[:16], tail[:16], k[16:]), join(k[:16], other[:16], k[16:]), "secrets of 48 bytes that differ in the 16 in the middle")
	t.same(join(k, tail, k), join(k, other, k), "secrets of 96 bytes that differ in the 32 in the middle")
	t.same(join(k, tail), join(tail, k), "secrets of 64 bytes with their halves exchanged")
	t.same(join(k, tail, k), join(other, tail, other), "secrets of 96 bytes of which the first part is the last")
	t.same(join(k, []byte("\n")), k, "K with a line break behind it, and K")
	t.same(join([]byte(" "), k), k, "K with a space in front of it, and K")
	t.same(join(k[:8], []byte{0}, tail), join(k[:8], []byte{0}, k), "secrets that differ behind a NUL")
	t.same(join(k[:31], []byte{0xff}), join(k[:31], []byte{0xfe}), "secrets that differ in a byte that is not UTF-8")
	t.same(join(k[:31], []byte("x")), join(k[:31], []byte("X")), "secrets that differ in the case of a letter")
	t.same(join(k[:31], []byte{0x41}), join(k[:31], []byte{0xc1}), "secrets that differ in the highest bit of a byte")
	t.same(join(k[:30], []byte("\u00e9")), join(k[:30], []byte("\u00e8")), "secrets that differ in a letter that is not ASCII")
	t.formsOfTexts(string(t.Letters(40)))
	for _, i := range []int{0, 15, 16, 31} {
		other := bytes.Clone(k)
		other[i] ^= 1
		t.same(k, other, fmt.Sprintf("secrets that differ in a bit of byte %d", i))
	}
}

// formsOfTexts is formsOfKeys for a secret of letters. A reader of settings may treat text
// unlike bytes.
func (t trial) formsOfTexts(k string) {
	for _, o := range []struct{ secret, how string }{
		{k + "\n", "a line break behind"}, {k + "\r\n", "CR and LF behind"}, {k + " ", "a space behind"}, {" " + k, "a space in front"}, {"\t" + k, "a tab in front"},
		{"\ufeff" + k, "a byte order mark"}, {`"` + k + `"`, "quotes around"}, {"'" + k + "'", "single quotes around"}, {k[:20] + " " + k[20:], "a space inside"},
		{k[:20] + "\n" + k[20:], "a line break inside"}, {k + "=", "padding behind"}, {strings.ToUpper(k), "the other case"}, {"base64:" + k, "base64: in front"},
		{"0x" + k, "0x in front"}, {k + "#", "a number sign behind"}, {fmt.Sprintf("%s%%%x%s", k[:20], k[20], k[21:]), "a percent escape"},
	} {
		t.same([]byte(k), []byte(o.secret), "a secret of letters, and one with "+o.how)
	}
}

// formsOf returns a value, its first and last bytes, and its hash. Code derives a secret of 32
// bytes in these ways.
func formsOf(value []byte) [][]byte {
	sum := sha256.Sum256(value)
	n := min(len(value), codecs.MinSecret)
	return [][]byte{value, value[:n], value[len(value)-n:], sum[:]}
}
