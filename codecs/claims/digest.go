package claims

import (
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"slices"
	"sync"

	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/sha256pair"
)

// digestSize is the number of bytes that are kept of a SHA-256.
const digestSize = 16

// AppendDigest appends the claim for the raw arguments of a request: 22
// characters. Raw is nil if the request has no arguments. It fails if they are not
// JSON. The SDK digests {} for every value that is false in Python, and always for
// resources/read.
func AppendDigest(dst []byte, method string, raw []byte) ([]byte, error) {
	r := rooms.Get().(*room)
	defer r.free()
	if err := r.hash(method, raw, nil); err != nil {
		return dst, err
	}
	return base64url.AppendEncode(dst, r.arguments[:digestSize]), nil
}

// hash sets the digests of arguments, as AppendDigest takes them, and of a principal
// under the salt in r.claim, if there is one.
func (r *room) hash(method string, raw []byte, principal *string) error {
	salted := r.salted[:0]
	if principal != nil {
		salted = append(slices.Grow(salted, len(principalLabel)+len(salt{})+len(*principal)+slack), principalLabel...)
		salted = append(append(salted, r.claim[:len(salt{})]...), *principal...)
	}
	r.salted = salted
	usual := r.readUsual(method, raw)
	sha256pair.Sum(&r.arguments, &r.principal, r.canonical, salted)
	if usual {
		return nil
	}
	d := digesters.Get().(*digester)
	defer digesters.Put(d)
	d.Reset()
	d.short = d.short[:0]
	if err := compactjson.StreamSorted(d, raw); err != nil {
		return err
	}
	if isFalse(d.short) {
		r.arguments = sha256.Sum256([]byte(emptyObject))
		return nil
	}
	d.Sum(r.arguments[:0])
	return nil
}

// readUsual sets the canonical text of usual arguments. It reports false for others,
// and the text is then empty.
func (r *room) readUsual(method string, raw []byte) bool {
	const writings = 2 // of each member, if they are sorted
	r.canonical = slices.Grow(r.canonical[:0], writings*len(raw)+slack)
	if raw == nil || method == "resources/read" {
		r.canonical = append(r.canonical, emptyObject...)
		return true
	}
	text, usual := compactjson.AppendPlain(r.canonical, raw)
	clear(text[len(text) : writings*len(raw)])
	if usual && isFalse(text) {
		text = append(text[:0], emptyObject...)
	}
	r.canonical = text
	return usual
}

// emptyObject is the text that stands for every value that is false in Python.
const emptyObject = "{}"

// A digester is a SHA-256 that keeps its input if that is short.
type digester struct {
	hash.Hash
	short []byte
}

var digesters = sync.Pool{New: func() any { return &digester{Hash: sha256.New()} }}

// maxShort is the length of the longest text that isFalse knows, and one more.
const maxShort = len("false") + 1

func (d *digester) Write(p []byte) (int, error) {
	d.short = append(d.short, p[:min(len(p), maxShort-len(d.short))]...)
	return d.Hash.Write(p)
}

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

// principalClaim is the claim of a principal: its salt and its digest.
type principalClaim [len(salt{}) + digestSize]byte

// claimSize is the length of the text of a principalClaim.
const claimSize = len(principalClaim{}) / 3 * 4

// readClaim decodes the claim of a principal. It reports false if the text is shorter
// or longer than a claim that Mint writes.
func (r *room) readClaim(text []byte) bool {
	if len(text) != claimSize {
		return false
	}
	_, ok := base64url.AppendDecode(r.claim[:0], text)
	return ok
}

// isPrincipal reports whether the claim is that of the principal that was hashed.
func (r *room) isPrincipal() bool {
	return subtle.ConstantTimeCompare(r.claim[len(salt{}):], r.principal[:digestSize]) == 1
}
