package compactjson

import (
	"crypto/sha256"
	"hash"
	"sync"

	"sealab/codecs/internal/base64url"
)

// digestSize is the length in bytes of a truncated SHA-256.
const digestSize = 16

// AppendDigest appends the digest of the raw arguments of a request, as the SDK
// binds them: base64url of the first 16 bytes of SHA-256 of the sorted form, 22
// characters. raw is nil if the request has no arguments. It fails if raw is
// not JSON. The SDK digests {} for resources/read and for every value that is
// false in Python.
func AppendDigest(dst []byte, method string, raw []byte) ([]byte, error) {
	if raw == nil || method == "resources/read" {
		return append(dst, digestOfNothing...), nil
	}
	if dst, ok := appendPlainDigest(dst, raw); ok {
		return dst, nil
	}
	d := digesters.Get().(*digester)
	defer digesters.Put(d)
	d.Reset()
	d.short = d.short[:0]
	if err := StreamSorted(d, raw); err != nil {
		return dst, err
	}
	if isFalse(d.short) {
		return append(dst, digestOfNothing...), nil
	}
	return base64url.AppendEncode(dst, d.Sum(d.sum[:0])[:digestSize]), nil
}

// appendPlainDigest appends the digest if raw is in the usual form; otherwise
// it reports false. It uses the spare capacity of dst if there is enough.
func appendPlainDigest(dst, raw []byte) ([]byte, bool) {
	text, sum := 2*len(raw), sha256.Size // room in bytes; sorting members writes them again
	room := dst
	if cap(dst)-len(dst) < text+2*sum {
		scratch := base64url.GetInner()
		defer scratch.Free()
		scratch.Grow(text + 2*sum)
		room = scratch.Bytes
	}
	plain, ok := AppendPlain(room, raw)
	if !ok {
		clear(room[len(room) : len(room)+text])
		return dst, false
	}
	plain = plain[len(room):]
	nothing, full := isFalse(plain), sha256.Sum256(plain)
	clear(room[len(room) : len(room)+text])
	if nothing {
		return append(dst, digestOfNothing...), true
	}
	at := len(room) + text + sum // the text of the digest ends before it
	behind := append(room[:at], full[:digestSize]...)[at:]
	return base64url.AppendEncode(dst, behind), true
}

// A digester is a SHA-256 that also keeps a short input.
type digester struct {
	hash.Hash
	short []byte
	sum   [sha256.Size]byte
}

var digesters = sync.Pool{New: func() any { return &digester{Hash: sha256.New()} }}

// maxShort is one more than the maximum length of a text that isFalse knows.
const maxShort = len("false") + 1

func (d *digester) Write(p []byte) (int, error) {
	d.short = append(d.short, p[:min(len(p), maxShort-len(d.short))]...)
	return d.Hash.Write(p)
}

// digestOfNothing is the digest of {}.
const digestOfNothing = "RBNvo1WzZ4oRRq0W9-hkng"

// isFalse reports whether a value in compact JSON is false in Python.
func isFalse(compact []byte) bool {
	switch string(compact) {
	case "null", "false", "0", "0.0", "-0.0", `""`, "[]", "{}":
		return true
	}
	return false
}
