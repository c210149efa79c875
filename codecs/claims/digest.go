package claims

import (
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"sync"

	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
)

// digestSize is the number of bytes that are kept of a SHA-256.
const digestSize = 16

// AppendDigest appends the claim for the raw arguments of a request: 22
// characters. Raw is nil if the request has no arguments. It fails if they are not
// JSON. The SDK digests {} for every value that is false in Python, and always for
// resources/read.
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
	if err := compactjson.StreamSorted(d, raw); err != nil {
		return dst, err
	}
	if isFalse(d.short) {
		return append(dst, digestOfNothing...), nil
	}
	return base64url.AppendEncode(dst, d.Sum(d.sum[:0])[:digestSize]), nil
}

// appendPlainDigest is AppendDigest for arguments in which nothing is unusual. It
// reports false for others.
func appendPlainDigest(dst, raw []byte) ([]byte, bool) {
	room := base64url.GetScratch()
	defer room.Free()
	text, ok := compactjson.AppendPlain(room.Bytes, raw)
	if !ok {
		return dst, false
	}
	defer clear(text)
	if isFalse(text) {
		return append(dst, digestOfNothing...), true
	}
	sum := sha256.Sum256(text)
	room.Bytes = append(text, sum[:digestSize]...)
	return base64url.AppendEncode(dst, room.Bytes[len(text):]), true
}

// A digester is a SHA-256 that keeps its input if that is short.
type digester struct {
	hash.Hash
	short []byte
	sum   [sha256.Size]byte
}

var digesters = sync.Pool{New: func() any { return &digester{Hash: sha256.New()} }}

// maxShort is the length of the longest text that isFalse knows, and one more.
const maxShort = len("false") + 1

func (d *digester) Write(p []byte) (int, error) {
	d.short = append(d.short, p[:min(len(p), maxShort-len(d.short))]...)
	return d.Hash.Write(p)
}

// digestOfNothing is the claim for {}.
const digestOfNothing = "RBNvo1WzZ4oRRq0W9-hkng"

// isFalse reports whether Python takes a value in compact JSON for false.
func isFalse(compact []byte) bool {
	switch string(compact) {
	case "null", "false", "0", "0.0", "-0.0", `""`, "[]", "{}":
		return true
	}
	return false
}

// salt keeps two tokens of one principal from showing that they are.
type salt [8]byte

// principalLabel keeps the digest apart from every other use of SHA-256.
const principalLabel = "mcp/request-state/principal:"

// principalClaim returns the claim that stands for a principal, in the spare
// capacity of room if there is enough.
func principalClaim(room []byte, fresh salt, principal string) []byte {
	digest := principalDigest(fresh[:], principal)
	raw := append(append(room, fresh[:]...), digest[:]...)
	return base64url.AppendEncode(raw, raw[len(room):])[len(raw):]
}

func principalDigest(salt []byte, principal string) [digestSize]byte {
	text := append(make([]byte, 0, 256), principalLabel...) // most have room
	text = append(append(text, salt...), principal...)
	sum := sha256.Sum256(text)
	return [digestSize]byte(sum[:])
}

// principalMatches compares a claim with a principal. It reports false if the claim
// is shorter or longer than a claim that Mint writes.
func principalMatches(claim []byte, principal string) bool {
	room := base64url.GetScratch()
	defer room.Free()
	if !room.Decode(claim) || len(room.Bytes) != len(salt{})+digestSize {
		return false
	}
	want := principalDigest(room.Bytes[:len(salt{})], principal)
	return subtle.ConstantTimeCompare(room.Bytes[len(salt{}):], want[:]) == 1
}
