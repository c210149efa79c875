package attack

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"

	"sealab/codecs"
)

// A checksum is a function of the state alone, without a key.
type checksum struct {
	name string
	of   func(state []byte) []byte
}

// words are checksums of 32 bits.
var words = []struct {
	name string
	of   func(state []byte) uint32
}{
	{"CRC-32", crc32.ChecksumIEEE},
	{"CRC-32C", func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }},
	{"Adler-32", adler32.Checksum},
}

// hashes need no key, and are no tag for that.
var hashes = []checksum{
	{"MD5", func(b []byte) []byte { h := md5.Sum(b); return h[:] }},
	{"SHA-1", func(b []byte) []byte { h := sha1.Sum(b); return h[:] }},
	{"SHA-256", func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }},
	{"SHA-512", func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }},
}

// checksums are the words in either order of bytes, and the hashes, whole and cut.
func checksums() []checksum {
	var all []checksum
	for _, w := range words {
		all = append(all,
			checksum{w.name, func(b []byte) []byte { return binary.BigEndian.AppendUint32(nil, w.of(b)) }},
			checksum{w.name + " in reverse", func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, w.of(b)) }})
	}
	for _, h := range hashes {
		for _, n := range []int{4, 8, 16, len(h.of(nil))} {
			all = append(all, checksum{fmt.Sprintf("%s of %d bytes", h.name, n), func(b []byte) []byte { return h.of(b)[:n] }})
		}
	}
	return all
}

// checksummed changes the state and what a checksum of it changes by. Where the
// payload is readable, or hidden by a key stream, that makes a token; no key is
// needed, but for a checksum other than a CRC the state has to be known.
func checksummed(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, sum := range checksums() {
		for _, back := range []int{3, 8, 16} {
			state := bytes.Clone(tok.State)
			state[len(state)-back] ^= 1
			by := xor(sum.of(tok.State), sum.of(state))
			for _, text := range s.summed(back, by) {
				t.try(codecs.Integrity)
				t.change(p, tok, text, fmt.Sprintf("the byte %d before the end of the state changed, and a %s of it", back, sum.name))
			}
		}
	}
}

// summed are the tokens in which a bit is changed so many bytes before the end of
// the state and a checksum by a difference, wherever it may stand.
func (s shape) summed(back int, by []byte) [][]byte {
	var all [][]byte
	for _, l := range s.tagged(len(by)) {
		if body := bytes.Clone(l.body); len(body) >= back {
			body[len(body)-back] ^= 1
			all = append(all, l.build(body, xor(l.tag, by)))
		}
	}
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for at := 1; at <= min(32, len(raw)-back-len(by)); at++ {
			altered := bytes.Clone(raw)
			altered[len(raw)-back] ^= 1
			copy(altered[at:], xor(raw[at:at+len(by)], by))
			all = append(all, s.with(i, altered))
		}
	}
	return all
}
