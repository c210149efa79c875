package bench

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"slices"

	"filippo.io/mldsa"
	"github.com/emmansun/base64"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A baseline seals a payload into a URL-safe token with the least work: the code that an expert would
// write inline for one key, one goroutine and one known size. The speed of a design is compared with its
// baseline.
//
// A baseline derives no key and writes neither key ID nor version. It keeps its buffers between calls, and
// accepts every spelling that the base64 decoder accepts:
//
//	memcpy               the payload, copied
//	base64               base64url(payload)
//	HMAC-SHA256          base64url(payload || tag[32])
//	Ed25519              base64url(payload || signature[64])
//	ML-DSA-44            base64url(payload || signature[2420])
//	AEADs                base64url(nonce || ciphertext || tag), the cipher of the design's row
//	claims               the cipher or the MAC over 48 bytes of claims and the payload
//	JSON claims          the cipher or the MAC over 256 bytes of claims, the payload, and one
//	                     byte for each quotation mark and backslash of it
//
// It uses the vectorized base64 of emmansun/base64, and the random number generator of the designs.
//
// Do not use a baseline for tokens: it is not safe for concurrent use, accepts
// several spellings of one token, and does not rotate keys.
type baseline struct {
	Name      string
	Doc       string
	Primitive string // the algorithm used bare, named as in lab.Hooks; "" if none
	Claims    bool   // the payload is sealed with claims
	Over      string // the baseline under binary claims; "" for JSON claims
	// Open returns the baseline under one key. It is not safe for concurrent use.
	Open func(key []byte) (codecs.Codec, error)
}

// fixedBaselines returns the baselines that do not depend on a design.
func fixedBaselines() []baseline {
	return []baseline{
		{Name: "baseline-memcpy", Doc: "the payload, copied", Open: openCopy},
		{Name: "baseline-base64", Doc: "the payload in base64url", Open: openText},
		{Name: "baseline-hmac-sha256", Doc: "a bare tag and base64url", Primitive: "HMAC-SHA256", Open: openHMAC},
		{Name: "baseline-ed25519", Doc: "a bare signature and base64url", Primitive: "Ed25519", Open: openEd25519},
		{Name: "baseline-hmac-sha256-claims", Doc: "a bare tag over claims and base64url", Primitive: "HMAC-SHA256",
			Claims: true, Over: "baseline-hmac-sha256", Open: withClaims(binaryClaims, openHMAC)},
		{Name: "baseline-aes-256-gcm-claims", Doc: "the bare cipher over claims and base64url", Primitive: "AES-256-GCM",
			Claims: true, Over: "baseline-aes-256-gcm", Open: withClaims(binaryClaims, openAEAD(newGCM))},
		{Name: "baseline-hmac-sha256-json", Doc: "a bare tag over claims in JSON and base64url", Primitive: "HMAC-SHA256",
			Claims: true, Open: withClaims(jsonClaims, openHMAC)},
		{Name: "baseline-aes-256-gcm-json", Doc: "the bare cipher over claims in JSON and base64url", Primitive: "AES-256-GCM",
			Claims: true, Open: withClaims(jsonClaims, openAEAD(newGCM))},
		{Name: "baseline-ml-dsa-44", Doc: "a bare signature and base64url", Primitive: "ML-DSA-44", Open: openMLDSA},
	}
}

// aeadBaseline returns the baseline of an AEAD that processes every byte.
func aeadBaseline(design, primitive string, open func(key []byte) (cipher.AEAD, error)) baseline {
	return baseline{Name: "baseline-" + design, Doc: "the bare cipher and base64url", Primitive: primitive, Open: openAEAD(open)}
}

// baselineKey returns the 32-byte key of baselines. It is not a secret.
func baselineKey() ([]byte, error) {
	return hkdf.Key(sha256.New, []byte("the key of the baselines is no secret"), nil, "sealab/baseline", 32)
}

// errRefused is the only refusal of a baseline.
var errRefused = codecs.Reject(codecs.Unauthentic, "baseline")

// aeadCodec makes tokens base64url(nonce || ciphertext || tag).
type aeadCodec struct {
	cipher.AEAD
	raw []byte
}

// openAEAD returns the Open function of an AEAD baseline.
func openAEAD(open func(key []byte) (cipher.AEAD, error)) func(key []byte) (codecs.Codec, error) {
	return func(key []byte) (codecs.Codec, error) {
		a, err := open(key)
		return &aeadCodec{AEAD: a}, err
	}
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (s *aeadCodec) Seal(dst, payload []byte) ([]byte, error) {
	s.raw = slices.Grow(s.raw[:0], s.NonceSize())[:s.NonceSize()]
	lab.Random(s.raw)
	s.raw = s.AEAD.Seal(s.raw, s.raw, payload, nil)
	return appendText(dst, s.raw), nil
}

func (s *aeadCodec) Unseal(dst, token []byte) ([]byte, error) {
	var err error
	n := s.NonceSize()
	if s.raw, err = appendBytes(s.raw[:0], token); err != nil || len(s.raw) < n {
		return dst, errRefused
	}
	out, err := s.Open(dst, s.raw[:n], s.raw[n:], nil)
	if err != nil {
		return dst, errRefused
	}
	return out, nil
}

// macCodec makes tokens base64url(payload || tag).
type macCodec struct {
	mac hash.Hash
	raw []byte
	sum [sha256.Size]byte
}

func openHMAC(key []byte) (codecs.Codec, error) {
	return &macCodec{mac: hmac.New(sha256.New, bytes.Clone(key))}, nil
}

// tag returns the tag of payload. It is valid until the next call.
func (s *macCodec) tag(payload []byte) []byte {
	s.mac.Reset()
	s.mac.Write(payload)
	return s.mac.Sum(s.sum[:0])
}

func (s *macCodec) Seal(dst, payload []byte) ([]byte, error) {
	s.raw = append(append(s.raw[:0], payload...), s.tag(payload)...)
	return appendText(dst, s.raw), nil
}

func (s *macCodec) Unseal(dst, token []byte) ([]byte, error) {
	var err error
	if s.raw, err = appendBytes(s.raw[:0], token); err != nil || len(s.raw) < sha256.Size {
		return dst, errRefused
	}
	n := len(s.raw) - sha256.Size
	if !hmac.Equal(s.tag(s.raw[:n]), s.raw[n:]) {
		return dst, errRefused
	}
	return append(dst, s.raw[:n]...), nil
}

// publicKey makes tokens base64url(payload || signature).
type publicKey struct {
	sign   func(message []byte) ([]byte, error)
	verify func(message, signature []byte) bool
	size   int // of a signature in bytes
	raw    []byte
}

func openEd25519(key []byte) (codecs.Codec, error) {
	private := ed25519.NewKeyFromSeed(key)
	public := ed25519.PublicKey(private[ed25519.SeedSize:])
	return &publicKey{
		sign:   func(message []byte) ([]byte, error) { return ed25519.Sign(private, message), nil },
		verify: func(message, signature []byte) bool { return ed25519.Verify(public, message, signature) },
		size:   ed25519.SignatureSize,
	}, nil
}

func openMLDSA(key []byte) (codecs.Codec, error) {
	private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), key)
	if err != nil {
		return nil, err
	}
	public := private.PublicKey()
	return &publicKey{
		sign:   func(message []byte) ([]byte, error) { return private.SignDeterministic(message, &mldsa.Options{}) },
		verify: func(message, signature []byte) bool { return mldsa.Verify(public, message, signature, nil) == nil },
		size:   mldsa.MLDSA44().SignatureSize(),
	}, nil
}

func (p *publicKey) Seal(dst, payload []byte) ([]byte, error) {
	signature, err := p.sign(payload)
	if err != nil {
		return dst, err
	}
	p.raw = append(append(p.raw[:0], payload...), signature...)
	return appendText(dst, p.raw), nil
}

func (p *publicKey) Unseal(dst, token []byte) ([]byte, error) {
	var err error
	if p.raw, err = appendBytes(p.raw[:0], token); err != nil || len(p.raw) < p.size {
		return dst, errRefused
	}
	n := len(p.raw) - p.size
	if !p.verify(p.raw[:n], p.raw[n:]) {
		return dst, errRefused
	}
	return append(dst, p.raw[:n]...), nil
}

// appendText appends the base64url text of src to dst.
func appendText(dst, src []byte) []byte {
	n := base64.RawURLEncoding.EncodedLen(len(src))
	dst = slices.Grow(dst, n)
	base64.RawURLEncoding.Encode(dst[len(dst):len(dst)+n], src)
	return dst[:len(dst)+n]
}

// appendBytes decodes the base64url text src and appends the bytes to dst. It accepts any spelling that
// the decoder accepts.
func appendBytes(dst, src []byte) ([]byte, error) {
	n := base64.RawURLEncoding.DecodedLen(len(src))
	dst = slices.Grow(dst, n)
	m, err := base64.RawURLEncoding.Decode(dst[len(dst):len(dst)+n], src)
	if err != nil {
		return dst, errRefused
	}
	return dst[:len(dst)+m], nil
}

// copyCodec makes tokens that equal the payload.
type copyCodec struct{}

func openCopy([]byte) (codecs.Codec, error) { return copyCodec{}, nil }

func (copyCodec) Seal(dst, payload []byte) ([]byte, error) { return append(dst, payload...), nil }
func (copyCodec) Unseal(dst, token []byte) ([]byte, error) { return append(dst, token...), nil }

// base64Codec makes tokens base64url(payload).
type base64Codec struct{}

func openText([]byte) (codecs.Codec, error) { return base64Codec{}, nil }

func (base64Codec) Seal(dst, payload []byte) ([]byte, error) { return appendText(dst, payload), nil }
func (base64Codec) Unseal(dst, token []byte) ([]byte, error) { return appendBytes(dst, token) }

// claimsWork describes the work that claims cost.
type claimsWork struct {
	size     int  // bytes added to the payload
	digested int  // bytes of the request that are hashed
	text     bool // the payload is text: it is scanned once and grows by its escapes
}

var (
	// Two times, and a digest of the whole request.
	binaryClaims = claimsWork{size: 48, digested: 136}
	// Names, and a digest of the arguments.
	jsonClaims = claimsWork{size: 256, digested: 64, text: true}
)

// claimsCodec is a codec over claims and the payload. The claims contain a digest of the request. Neither
// claims nor payload are encoded as JSON. Instead, each character of a text payload that needs an escape
// adds a zero byte after the payload, which a text does not contain.
type claimsCodec struct {
	codecs.Codec
	claimsWork
	room, out []byte
	request   []byte
}

func withClaims(s claimsWork, open func(key []byte) (codecs.Codec, error)) func(key []byte) (codecs.Codec, error) {
	return func(key []byte) (codecs.Codec, error) {
		c, err := open(key)
		return &claimsCodec{Codec: c, claimsWork: s, request: make([]byte, s.digested)}, err
	}
}

// claims returns the claims in a buffer with room for the payload.
func (c *claimsCodec) claims() []byte {
	digest := sha256.Sum256(c.request)
	c.room = append(slices.Grow(c.room[:0], c.size), digest[:]...)[:c.size]
	clear(c.room[len(digest):])
	return c.room
}

func (c *claimsCodec) Seal(dst, payload []byte) ([]byte, error) {
	c.room = append(c.claims(), payload...)
	if c.text {
		n := bytes.Count(payload, []byte{'"'}) + bytes.Count(payload, []byte{'\\'})
		c.room = append(c.room, make([]byte, n)...)
	}
	return c.Codec.Seal(dst, c.room)
}

func (c *claimsCodec) Unseal(dst, token []byte) (_ []byte, err error) {
	if c.out, err = c.Codec.Unseal(c.out[:0], token); err != nil {
		return dst, err
	}
	payload, ok := bytes.CutPrefix(c.out, c.claims())
	if !ok {
		return dst, errRefused
	}
	if n := bytes.IndexByte(payload, 0); c.text && n >= 0 {
		payload = payload[:n]
	}
	return append(dst, payload...), nil
}
