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

// appendPlainDigest is AppendDigest for usual arguments. It
// reports false for others. It works in the spare capacity of dst if there is enough.
func appendPlainDigest(dst, raw []byte) ([]byte, bool) {
	text, sum := 2*len(raw), sha256.Size // room in bytes; members are sorted by writing them again
	room := dst
	if cap(dst)-len(dst) < text+2*sum {
		scratch := base64url.GetScratch()
		defer scratch.Free()
		scratch.Grow(text + 2*sum)
		room = scratch.Bytes
	}
	plain, ok := compactjson.AppendPlain(room, raw)
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
	at := len(room) + text + sum // the claim does not reach it
	behind := append(room[:at], full[:digestSize]...)[at:]
	return base64url.AppendEncode(dst, behind), true
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

// claimSize is the length of the claim of a principal.
const claimSize = (len(salt{}) + digestSize) / 3 * 4

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

// principalMatches compares a claim with a principal, in the spare capacity of room
// if there is enough. It reports false if the claim is shorter or longer than a claim
// that Mint writes.
func principalMatches(room, claim []byte, principal string) bool {
	if len(claim) != claimSize {
		return false
	}
	raw, ok := base64url.AppendDecode(room, claim)
	if !ok {
		return false
	}
	raw = raw[len(room):]
	want := principalDigest(raw[:len(salt{})], principal)
	return subtle.ConstantTimeCompare(raw[len(salt{}):], want[:]) == 1
}
