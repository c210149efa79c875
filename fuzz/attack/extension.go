package attack

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
)

// A chain is a Merkle-Damgard hash whose state after a message is its digest,
// so that hashing can go on from the digest alone.
type chain struct {
	name  string
	size  int // of the digest
	block int
	magic string // of the state that the standard library marshals
	new   func() hash.Hash
	// little says that length and words are little-endian.
	little bool
}

var chains = []chain{
	{"SHA-256", sha256.Size, sha256.BlockSize, "sha\x03", sha256.New, false},
	{"SHA-1", sha1.Size, sha1.BlockSize, "sha\x01", sha1.New, false},
	{"SHA-512", sha512.Size, sha512.BlockSize, "sha\x07", sha512.New, false},
	{"MD5", md5.Size, md5.BlockSize, "md5\x01", md5.New, true},
}

// padding is what the hash appends to a message of n bytes.
func (c chain) padding(n int) []byte {
	width := c.block / 8 // of the length field
	zeros := (c.block - (n+1+width)%c.block) % c.block
	pad := append([]byte{0x80}, make([]byte, zeros+width)...)
	if c.little {
		binary.LittleEndian.PutUint64(pad[len(pad)-8:], uint64(n)*8)
	} else {
		binary.BigEndian.PutUint64(pad[len(pad)-8:], uint64(n)*8)
	}
	return pad
}

// extend returns the digest of m || padding || suffix, from the digest of m and
// its length n.
func (c chain) extend(digest []byte, n int, suffix []byte) ([]byte, error) {
	state := append([]byte(c.magic), c.words(digest)...)
	state = append(state, make([]byte, c.block)...)
	state = binary.BigEndian.AppendUint64(state, uint64(n+len(c.padding(n))))
	h := c.new()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", c.name, err)
	}
	h.Write(suffix)
	return h.Sum(nil), nil
}

// words are the state's words in the order in which the library marshals them.
func (c chain) words(digest []byte) []byte {
	if !c.little {
		return digest
	}
	var w []byte
	for i := 0; i < len(digest); i += 4 {
		w = binary.BigEndian.AppendUint32(w, binary.LittleEndian.Uint32(digest[i:]))
	}
	return w
}

// lengthExtension takes each run of bytes that may be a digest for one of
// key || message, for every total length, and goes on from it.
func lengthExtension(t *Trial) {
	p, _, ok := t.base()
	if !ok {
		return
	}
	for _, state := range [][]byte{t.state(24), t.letters(24)} {
		tok, ok := t.mint(p, state)
		if !ok {
			continue
		}
		s := tok.shape()
		for _, c := range chains {
			for _, l := range s.tagged(c.size) {
				t.extendTagged(p, tok, c, l)
			}
		}
	}
}

func (t *Trial) extendTagged(p *Party, tok *Token, c chain, l tagged) {
	suffix := t.letters(8)
	for _, extra := range t.sweep(200) {
		n := len(l.body) + extra // with the key and what else stands in front
		digest, err := c.extend(l.tag, n, suffix)
		if err != nil {
			t.skip("%v", err)
			return
		}
		body := bytes.Join([][]byte{l.body, c.padding(n), suffix}, nil)
		t.change(p, tok, l.build(body, digest), fmt.Sprintf("%s extended from the tag, %d bytes before the body", c.name, extra))
	}
}
