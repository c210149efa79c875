package tokenfmt

import (
	"bytes"
	"fmt"
	"slices"
)

// ShortTags drops up to 64 bytes at either end of each segment. It also shortens tags whose
// length the token states.
func ShortTags(f Format, s *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, n := range s.Range(min(64, len(raw))) {
			n++
			yield(Alteration{f.With(i, raw[:len(raw)-n]), fmt.Sprintf("%d bytes short at the end of segment %d", n, i)})
			yield(Alteration{f.With(i, raw[n:]), fmt.Sprintf("%d bytes short at the start of segment %d", n, i)})
		}
		f.shorterTags(i, s, yield)
	}
}

// tagLengths are the tag lengths in bytes that a token may state.
var tagLengths = []int{4, 8, 10, 12, 16, 20, 24, 28, 32, 48, 64}

// shorterTags shortens a tag at the end of segment i together with a byte that may state its
// length, in bytes or bits. The remaining tag is a prefix of the tag, or any one byte.
func (f Format) shorterTags(i int, s *Source, yield func(Alteration)) {
	raw := f.Segments[i].Bytes
	for at := range min(16, len(raw)) {
		for _, n := range tagLengths {
			unit := 1
			if int(raw[at]) == 8*n {
				unit = 8
			}
			if int(raw[at]) != unit*n || len(raw)-n <= at {
				continue
			}
			body := raw[:len(raw)-n]
			give := func(tag []byte) {
				altered := slices.Concat(body, tag)
				altered[at] = byte(unit * len(tag))
				yield(Alteration{f.With(i, altered), fmt.Sprintf("%d for %d at byte %d of segment %d, and a tag of %d bytes", altered[at], raw[at], at, i, len(tag))})
			}
			for _, left := range []int{0, 1, 2, 4, 8} {
				if left < n {
					give(raw[len(body) : len(body)+left])
				}
			}
			for _, b := range s.Range(256) {
				give([]byte{byte(b)})
			}
		}
	}
}

// ConstantTags writes constants over both ends of each segment, with the body unchanged and
// changed. It also writes the algorithm "none" into JSON headers.
func ConstantTags(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		f.foreignTags(i, yield)
		for _, n := range []int{1, 2, 4, 8, 10, 12, 16, 20, 28, 32, 48, 64} {
			if n > len(raw) {
				break
			}
			for _, c := range []byte{0, 0xff, '0', 'A'} {
				f.constantTag(i, bytes.Repeat([]byte{c}, n), yield)
			}
		}
		for _, word := range []string{"", "null", "none", "undefined", "0", "AAAA", "true", "*"} {
			yield(Alteration{f.WithText(i, word), fmt.Sprintf("%q for segment %d", word, i)})
		}
		f.withoutTag(i, yield)
	}
}

// foreignTags replaces segment i by characters outside all encodings, and appends them to it.
// The other segments are unchanged, or one of them is altered. A comparison may fail on such
// characters, and the reader may ignore the error.
func (f Format) foreignTags(i int, yield func(Alteration)) {
	put := func(g Format, how string) {
		for _, foreign := range []string{"\u00e9", "\x00", "%", "\xff"} {
			for _, text := range []string{foreign, f.Segments[i].Text + foreign} {
				yield(Alteration{g.WithText(i, text), fmt.Sprintf("%q for segment %d%s", text, i, how)})
			}
		}
	}
	put(f, "")
	for _, j := range f.Encoded() {
		if altered := bytes.Clone(f.Segments[j].Bytes); i != j && len(altered) > 0 {
			altered[len(altered)/2] ^= 1
			put(f.Altered(j, altered), fmt.Sprintf(", and a byte in segment %d changed", j))
		}
	}
}

// constantTag writes a constant over the end and the start of segment i.
func (f Format) constantTag(i int, constant []byte, yield func(Alteration)) {
	raw, n, c := f.Segments[i].Bytes, len(constant), constant[0]
	body := bytes.Clone(raw[:len(raw)-n])
	yield(Alteration{f.With(i, slices.Concat(body, constant)), fmt.Sprintf("%d times %#x at the end of segment %d", n, c, i)})
	yield(Alteration{f.With(i, slices.Concat(constant, raw[n:])), fmt.Sprintf("%d times %#x at the start of segment %d", n, c, i)})
	if len(body) > 0 {
		body[len(body)/2] ^= 1
		yield(Alteration{f.With(i, slices.Concat(body, constant)), fmt.Sprintf("%d times %#x at the end of segment %d, and a byte in front of it changed", n, c, i)})
	}
}

// withoutTag writes the algorithm "none" into a JSON header, with the last segment empty or
// unchanged.
func (f Format) withoutTag(i int, yield func(Alteration)) {
	raw := f.Segments[i].Bytes
	last, _ := f.LastEncoded() // at least i
	if !bytes.HasPrefix(raw, []byte(`{"`)) || !bytes.Contains(raw, []byte(`"alg"`)) {
		return
	}
	for _, alg := range []string{"none", "None", "nOne", "NONE", ""} {
		header := fmt.Appendf(nil, `{"alg":%q,"typ":"JWT"}`, alg)
		for _, tag := range []string{"", f.Segments[last].Text} {
			yield(Alteration{f.Altered(i, header).WithText(last, tag), fmt.Sprintf("alg %q with tag %q", alg, tag)})
		}
	}
}
