package attack

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"sealab/codecs"
)

// twins presents a token of one secret to another that may be the same key.
func (t *Trial) twins(a, b []byte, how string) {
	pa, pb, ok := t.pair(a, b)
	if !ok || bytes.Equal(a, b) {
		return
	}
	tok, ok := t.mint(pa, t.state(24))
	if !ok {
		return
	}
	t.try(codecs.KeySeparation)
	if call, ok := pb.accepts(tok.Text, tok.Under); ok {
		t.refute(codecs.KeySeparation, "two different secrets open each other's tokens: "+how, tok.Sealed, call)
	}
}

func equivalentKeys(t *Trial) {
	k := t.secret(0)
	for _, n := range []int{1, 8, 32} {
		t.twins(k, append(bytes.Clone(k), make([]byte, n)...), fmt.Sprintf("K and K with %d zero bytes after it", n))
	}
	for _, n := range []int{65, 80, 129, 200} {
		long := bytes.Repeat(k, 7)[:n]
		sum := sha256.Sum256(long)
		t.twins(long, sum[:], fmt.Sprintf("a secret of %d bytes and its SHA-256", n))
	}
	if t.trials[codecs.KeySeparation] == 0 {
		t.skip("the subject takes secrets of one length only")
	}
}

func formsOfKeys(t *Trial) {
	k, tail := t.secret(0), t.secret(1)
	k[5], k[31] = 'a', 'b'
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	t.twins(k, []byte(hex.EncodeToString(k)), "K and its hexadecimal text")
	t.twins(k, []byte(base64.StdEncoding.EncodeToString(k)), "K and its base64 text")
	t.twins(k, []byte(base64.RawURLEncoding.EncodeToString(k)), "K and its base64url text")
	for _, n := range []int{32, 48, 64, 128} {
		t.twins(join(bytes.Repeat(k, 4)[:n], tail), join(bytes.Repeat(k, 4)[:n], k), fmt.Sprintf("secrets that differ after byte %d", n))
	}
	t.twins(join(k, []byte("\n")), k, "K with a line break after it, and K")
	t.twins(join([]byte(" "), k), k, "K with a space before it, and K")
	t.twins(join(k[:8], []byte{0}, tail), join(k[:8], []byte{0}, k), "secrets that differ after a NUL")
	t.twins(join(k[:31], []byte{0xff}), join(k[:31], []byte{0xfe}), "secrets that differ in a byte that is not UTF-8")
	t.twins(join(k[:31], []byte("x")), join(k[:31], []byte("X")), "secrets that differ in the case of a letter")
	t.twins(join(k[:31], []byte{0x41}), join(k[:31], []byte{0xc1}), "secrets that differ in the highest bit of a byte")
	t.twins(join(k[:30], []byte("\u00e9")), join(k[:30], []byte("\u00e8")), "secrets that differ in a letter that is not ASCII")
	for _, i := range []int{0, 15, 16, 31} {
		other := bytes.Clone(k)
		other[i] ^= 1
		t.twins(k, other, fmt.Sprintf("secrets that differ in a bit of byte %d", i))
	}
}
