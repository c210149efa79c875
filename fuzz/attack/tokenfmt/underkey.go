package tokenfmt

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"slices"
)

// TaggedUnderKey recomputes the tag of the token by HMAC under a known key. altered describes
// the changes that f already has, for the description.
func TaggedUnderKey(f Format, key []byte, altered string) Alterations {
	return func(yield func(Alteration)) {
		for _, m := range []struct {
			mac  MAC
			size int
		}{{HMACSHA256, 32}, {HMACSHA256, 16}, {hmacSHA512, 64}, {hmacSHA1, 20}} {
			for _, text := range f.tagged(m.mac, key, m.size) {
				yield(Alteration{text, underKey(altered, key, m.mac.Name)})
			}
		}
	}
}

// SealedUnderKey seals the token again under a known key, by each AEAD that can be recognized.
// The plaintext is the honest ciphertext.
func SealedUnderKey(f Format, key []byte, altered string) Alterations {
	return func(yield func(Alteration)) {
		for _, c := range knownCiphers {
			if a, err := c.new(key); err == nil {
				for _, i := range f.Encoded() {
					f.sealedAnew(a, i, func(text []byte) { yield(Alteration{text, underKey(altered, key, c.name)}) })
				}
			}
		}
	}
}

func underKey(altered string, key []byte, by string) string {
	if len(bytes.Trim(key, "\x00")) == 0 {
		return fmt.Sprintf("%s, and %s under a key of %d zeros", altered, by, len(key))
	}
	return fmt.Sprintf("%s, and %s under the key %.40q", altered, by, key)
}

// tagged returns the token with its tag replaced by the first n bytes of the MAC of each
// message that the format may authenticate. If the last segment has n bytes, the text before it
// is such a message too (RFC 7515).
func (f Format) tagged(m MAC, key []byte, n int) (all [][]byte) {
	for _, l := range f.Layouts(n) {
		for _, message := range l.Messages(l.Body) {
			all = append(all, l.Build(l.Body, m.Sum(key, message)[:n]))
		}
	}
	if last, ok := f.LastEncoded(); ok && len(f.Segments[last].Bytes) == n {
		all = append(all, f.With(last, m.Sum(key, bytes.TrimRight(f.Before(last), ".:|~-_"))[:n]))
	}
	return all
}

// sealedAnew splits segment i as recognizeAEAD does, and seals it again.
func (f Format) sealedAnew(a cipher.AEAD, i int, do func(text []byte)) {
	raw := f.Segments[i].Bytes
	for head := 0; head <= 16 && head+a.NonceSize()+a.Overhead() <= len(raw); head++ {
		sealed := head + a.NonceSize()
		for _, data := range f.additional(i, raw[:head]) {
			do(f.With(i, a.Seal(slices.Clone(raw[:sealed]), raw[head:sealed], raw[sealed:len(raw)-a.Overhead()], data)))
		}
	}
}

// additional returns the usual choices of additional data for segment i with a head.
func (f Format) additional(i int, head []byte) [][]byte {
	text := f.Before(i)
	word := bytes.TrimRight(text, ".:|~-_")
	return [][]byte{nil, text, word, head, slices.Concat(text, head), slices.Concat(word, head)}
}

// OtherHeads calls do with variants of the token in which the start of a segment, which may
// name a key, has one bit flipped or is zero.
func OtherHeads(f Format, do func(other Format, how string)) {
	for i, raw := range f.EncodedBytes() {
		if len(raw) == 0 {
			continue
		}
		do(f.Altered(i, slices.Concat([]byte{raw[0] ^ 1}, raw[1:])), fmt.Sprintf("bit 0 of segment %d flipped", i))
		for _, n := range []int{4, 8, 16} {
			if n < len(raw) {
				do(f.Altered(i, slices.Concat(make([]byte, n), raw[n:])), fmt.Sprintf("the first %d bytes of segment %d set to zero", n, i))
			}
		}
	}
}

// Named returns the format with another text for segment i.
func (f Format) Named(i int, text string) Format {
	f.Segments = slices.Clone(f.Segments)
	f.Segments[i].Text = text
	return f
}
