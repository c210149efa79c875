package tokenfmt

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"iter"
	"slices"
)

// A Chain is a Merkle-Damgard hash. Its digest equals its internal state, so hashing can
// continue from the digest alone.
type Chain struct {
	Name  string
	Size  int // of the digest, in bytes
	block int
	magic string // prefix of the state as marshaled by the standard library
	new   func() hash.Hash
	// little reports that lengths and words are little-endian.
	little bool
}

// Chains are the hashes that allow length extension.
var Chains = []Chain{
	{"SHA-256", sha256.Size, sha256.BlockSize, "sha\x03", sha256.New, false},
	{"SHA-1", sha1.Size, sha1.BlockSize, "sha\x01", sha1.New, false},
	{"SHA-512", sha512.Size, sha512.BlockSize, "sha\x07", sha512.New, false},
	{"MD5", md5.Size, md5.BlockSize, "md5\x01", md5.New, true},
}

// Padding returns the bytes that the hash appends to a message of n bytes.
func (c Chain) Padding(n int) []byte {
	width := c.block / 8 // of the length field, in bytes
	zeros := (c.block - (n+1+width)%c.block) % c.block
	pad := append([]byte{0x80}, make([]byte, zeros+width)...)
	if c.little {
		binary.LittleEndian.PutUint64(pad[len(pad)-8:], uint64(n)*8)
	} else {
		binary.BigEndian.PutUint64(pad[len(pad)-8:], uint64(n)*8)
	}
	return pad
}

// Extend returns the digest of m || padding || suffix, from the digest of m and the
// length n of m.
func (c Chain) Extend(digest []byte, n int, suffix []byte) ([]byte, error) {
	state := append([]byte(c.magic), c.words(digest)...)
	state = append(state, make([]byte, c.block)...)
	state = binary.BigEndian.AppendUint64(state, uint64(n+len(c.Padding(n))))
	h := c.new()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("continuing %s from a digest of %d bytes: %w", c.Name, len(digest), err)
	}
	h.Write(suffix)
	return h.Sum(nil), nil
}

// words converts the digest to the byte order in which the standard library marshals the state.
func (c Chain) words(digest []byte) []byte {
	if !c.little {
		return digest
	}
	var w []byte
	for i := 0; i+4 <= len(digest); i += 4 {
		w = binary.BigEndian.AppendUint32(w, binary.LittleEndian.Uint32(digest[i:]))
	}
	return w
}

// A Checksum is an unkeyed function of bytes.
type Checksum struct {
	Name string
	Sum  func([]byte) []byte
	cut  bool // a truncated hash
}

// Hashes are the unkeyed hashes that formats use.
var Hashes = []Checksum{
	{Name: "MD5", Sum: func(b []byte) []byte { h := md5.Sum(b); return h[:] }},
	{Name: "SHA-1", Sum: func(b []byte) []byte { h := sha1.Sum(b); return h[:] }},
	{Name: "SHA-256", Sum: func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }},
	{Name: "SHA-512", Sum: func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }},
}

// Checksums returns CRC-32, CRC-32C and Adler-32 in both byte orders, and the hashes, whole and
// truncated.
func Checksums() []Checksum {
	var all []Checksum
	for _, w := range []struct {
		name string
		of   func([]byte) uint32
	}{
		{"CRC-32", crc32.ChecksumIEEE},
		{"CRC-32C", func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }},
		{"Adler-32", adler32.Checksum},
	} {
		all = append(all,
			Checksum{Name: w.name, Sum: func(b []byte) []byte { return binary.BigEndian.AppendUint32(nil, w.of(b)) }},
			Checksum{Name: w.name + " in little-endian order", Sum: func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, w.of(b)) }})
	}
	for _, h := range Hashes {
		all = append(all, h)
		for _, n := range []int{4, 8, 16} {
			all = append(all, Checksum{fmt.Sprintf("%d bytes of %s", n, h.Name), func(b []byte) []byte { return h.Sum(b)[:n] }, true})
		}
	}
	return all
}

// Unkeyed yields the token with a checksum or a whole hash as its tag. It also does so under
// other versions: another first word, or another first byte.
func Unkeyed(f Format, _ *Source, yield func(Alteration)) {
	for version := range f.otherVersions() {
		for _, sum := range Checksums() {
			if sum.cut {
				continue
			}
			for _, l := range version.Layouts(len(sum.Sum(nil))) {
				for _, message := range l.Messages(l.Body) {
					yield(Alteration{l.Build(l.Body, sum.Sum(message)), fmt.Sprintf("%s as the tag, behind %.40q", sum.Name, l.before)})
				}
			}
		}
	}
}

// otherVersions yields the format unchanged, with other first words, and with other first
// bytes.
func (f Format) otherVersions() iter.Seq[Format] {
	all := []Format{f}
	if !f.Segments[0].Encoded() {
		for _, word := range OtherWords(f.Segments[0].Text) {
			other := Format{Segments: slices.Clone(f.Segments)}
			other.Segments[0].Text = word
			all = append(all, other)
		}
	}
	if at := f.Encoded(); len(at) > 0 && len(f.Segments[at[0]].Bytes) > 0 {
		raw := f.Segments[at[0]].Bytes
		for v := range byte(8) {
			all = append(all, f.Altered(at[0], slices.Concat([]byte{v}, raw[1:])))
		}
	}
	return slices.Values(all)
}

// Patched returns the tokens in which one bit is flipped back bytes before the end of the
// payload, and a checksum changes by delta. It tries every place of the checksum.
func (f Format) Patched(back int, delta []byte) [][]byte {
	var all [][]byte
	for _, l := range f.Layouts(len(delta)) {
		if body := bytes.Clone(l.Body); len(body) >= back {
			body[len(body)-back] ^= 1
			all = append(all, l.Build(body, Xor(l.Tag, delta)))
		}
	}
	for i, raw := range f.EncodedBytes() {
		for at := 1; at <= min(32, len(raw)-back-len(delta)); at++ {
			altered := bytes.Clone(raw)
			altered[len(raw)-back] ^= 1
			copy(altered[at:], Xor(raw[at:at+len(delta)], delta))
			all = append(all, f.With(i, altered))
		}
	}
	return all
}

// A Running hash exposes its whole state in the digest, so an attacker can extend an unknown
// message.
type Running struct {
	Name     string
	Size     int // of the digest, in bytes
	Continue func(digest uint64, suffix []byte) uint64
}

// RunningHashes returns the CRCs, Adler-32, the FNV hashes and two string hashes.
func RunningHashes() []Running {
	each := func(name string, size int, step func(s, b uint64) uint64) Running {
		return Running{name, size, func(s uint64, suffix []byte) uint64 {
			for _, b := range suffix {
				s = step(s, uint64(b)) & (1<<(8*size-1)<<1 - 1)
			}
			return s
		}}
	}
	crc := func(name string, polynomial uint32) Running {
		return Running{name, 4, func(s uint64, suffix []byte) uint64 {
			return uint64(crc32.Update(uint32(s), crc32.MakeTable(polynomial), suffix))
		}}
	}
	long := func(name string, polynomial uint64) Running {
		return Running{name, 8, func(s uint64, suffix []byte) uint64 { return crc64.Update(s, crc64.MakeTable(polynomial), suffix) }}
	}
	const prime32, prime64 = 16777619, 1099511628211
	return []Running{
		crc("CRC-32", crc32.IEEE), crc("CRC-32C", crc32.Castagnoli), long("CRC-64 of ISO", crc64.ISO), long("CRC-64 of ECMA", crc64.ECMA),
		each("Adler-32", 4, func(s, b uint64) uint64 {
			low := (s&0xffff + b) % 65521
			return (s>>16+low)%65521<<16 | low
		}),
		each("FNV-1 of 32 bits", 4, func(s, b uint64) uint64 { return s*prime32&0xffffffff ^ b }),
		each("FNV-1a of 32 bits", 4, func(s, b uint64) uint64 { return (s ^ b) * prime32 }),
		each("FNV-1 of 64 bits", 8, func(s, b uint64) uint64 { return s*prime64 ^ b }),
		each("FNV-1a of 64 bits", 8, func(s, b uint64) uint64 { return (s ^ b) * prime64 }),
		each("the hash times 31", 4, func(s, b uint64) uint64 { return s*31 + b }),
		each("the hash times 33", 4, func(s, b uint64) uint64 { return s*33 + b }),
	}
}

// Continued returns the tokens with a suffix appended to the body, and a tag that extends the
// hash over each message that the format may authenticate.
func (f Format) Continued(h Running, suffix []byte) [][]byte {
	var all [][]byte
	for _, l := range f.Layouts(h.Size) {
		body := slices.Concat(l.Body, suffix)
		longer := l.Messages(body)
		for k, message := range l.Messages(l.Body) {
			rest, ok := bytes.CutPrefix(longer[k], message)
			if !ok {
				continue
			}
			tag := make([]byte, 8)
			copy(tag[8-h.Size:], l.Tag)
			binary.BigEndian.PutUint64(tag, h.Continue(binary.BigEndian.Uint64(tag), rest))
			all = append(all, l.Build(body, tag[8-h.Size:]))
			tag = make([]byte, 8)
			copy(tag, l.Tag)
			binary.LittleEndian.PutUint64(tag, h.Continue(binary.LittleEndian.Uint64(tag), rest))
			all = append(all, l.Build(body, tag[:h.Size]))
		}
	}
	return all
}
