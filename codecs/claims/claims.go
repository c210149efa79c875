// Package claims makes a scheme of any codec. It puts a time of issue, an
// expiry and a digest of the request before the state, seals all of it with the
// codec, and verifies each claim when the token returns.
//
// The payload that the codec seals, version 2:
//
//	version[1] = 2
//	issued[8]    nanoseconds since 1970, big-endian, two's complement
//	expires[8]   issued + time to live
//	salt[16]     random
//	digest[16]   of the context
//	state[n]
//
// The digest is the first 16 bytes of SHA-256 of
//
//	"sealab/claims/v2" || salt || present[1] || text(method) || text(target) ||
//	text(audience) || text(principal) || arguments
//
// text(x) is the length of x as an unsigned varint (LEB128), and x. The lowest
// three bits of present tell whether there are arguments, an audience and a
// principal. An absent part takes no bytes. Arguments are JSON (RFC 8259) in
// canonical form: members in the order of the code points of their names, only
// the last of repeated names, no white space, strings in ASCII with the
// shortest escapes, numbers as they are spelled. So different contexts are
// different texts. The salt of each text is unpredictable, so an attacker cannot
// prepare a pair of contexts with the same digest before the token is minted.
//
// A token is refused from its expiry on, including the expiry itself, and if it
// was issued more than 60 seconds in the future.
//
// Names, principals and states may be any bytes. If arguments are not JSON,
// Mint returns codecs.ErrUnsupported and Verify refuses the token.
//
// Each request of a web session presents the session's cookie. Mint and Verify
// then take the same context but for Now:
//
//	Method     ""; the cookie is for every method
//	Target     the name of the cookie, so that another cookie does not pass for it
//	Arguments  nil
//	Principal  nil; the user is in the state, and unknown before Verify
//	Audience   the name of the service
//
// Seeds are the codec's seed followed by the salt.
//
// Limits: those of the codec. Arguments nest at most 10000 deep. For times
// before the year 1678 or after 2262 Mint returns codecs.ErrUnsupported.
//
// Limitations: no single use. Anyone who holds a key can mint any token. If the
// codec does not encrypt, the times and the state are readable, and anyone who
// guesses a complete context can confirm it by the digest.
package claims

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// DefaultTTL is the time to live if the configuration has none.
const DefaultTTL = 600 * time.Second

// skew is the maximum time between now and a later time of issue.
const skew = 60 * time.Second

// The bytes before the state.
const (
	version = 2

	atIssued  = 1
	atExpires = atIssued + 8
	atSalt    = atExpires + 8
	atDigest  = atSalt + saltSize
	headSize  = atDigest + digestSize
)

var (
	errMalformed = codecs.Reject(codecs.Malformed, "claims")
	errFuture    = codecs.Reject(codecs.Expired, "minted in the future")
	errExpired   = codecs.Reject(codecs.Expired, "expired")
	errMisbound  = codecs.Reject(codecs.Misbound, "other request, audience or principal")
)

// scheme is a codecs.Scheme over any codec.
type scheme struct {
	codec codecs.Codec
	ttl   time.Duration
}

// New returns the scheme that adds claims to codec. It fails if ttl is not
// positive. The codec's keys must not seal other payloads: anyone who chooses
// such a payload chooses claims. The scheme is a lab.SchemeAssembler if the
// codec is a lab.Assembler.
func New(codec codecs.Codec, ttl time.Duration) (codecs.Scheme, error) {
	//mutant:equivalent every row of the catalog gives a codec
	if codec == nil {
		return nil, fmt.Errorf("claims need a codec")
	}
	if ttl <= 0 {
		return nil, fmt.Errorf("the time to live is %v and must be positive", ttl)
	}
	s := &scheme{codec, ttl}
	if a, ok := codec.(lab.Assembler); ok {
		return layouts.Assemble(s, a.SeedSize()+saltSize, (*scheme).mintEdited), nil
	}
	return s, nil
}

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	var salt [saltSize]byte
	keyring.Random(salt[:])
	work := base64url.GetScratch()
	defer work.Wipe(0)
	if err := s.claim(work, salt[:], state, c); err != nil {
		return dst, err
	}
	return s.codec.Seal(dst, work.Bytes)
}

// mintEdited mints in steps that edit may change: lab.StepClaims, then the
// steps of the codec.
func (s *scheme) mintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	codec := s.codec.(lab.Assembler)
	var work base64url.Scratch
	n := codec.SeedSize()
	if err := s.claim(&work, seed[n:], state, c); err != nil {
		return dst, err
	}
	return codec.SealEdited(dst, seed[:n], edit.Give(lab.StepClaims, work.Bytes), edit)
}

// claim builds the payload that Mint seals.
func (s *scheme) claim(work *base64url.Scratch, salt, state []byte, c *codecs.Context) error {
	if err := c.Check(); err != nil {
		return err
	}
	issued := nanoseconds(c.Now)
	if issued == math.MinInt64 || issued > math.MaxInt64-int64(s.ttl) {
		return codecs.ErrUnsupported
	}
	work.Grow(headSize + max(len(state), contextSize(c)))
	head := append(work.Bytes, version)
	head = binary.BigEndian.AppendUint64(head, uint64(issued))
	head = binary.BigEndian.AppendUint64(head, uint64(issued+int64(s.ttl)))
	head = append(head, salt...)
	digest, err := digestOf(head, salt, c)
	if err != nil {
		return fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	work.Bytes = append(append(head, digest[:]...), state...)
	return nil
}

// Verify implements codecs.Scheme. It returns the codec's refusals unchanged.
func (s *scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := c.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	work.Grow(len(token) + contextSize(c))
	payload, err := s.codec.Unseal(work.Bytes, token)
	if err != nil {
		work.Wipe(len(token)) // some codecs decrypt before they refuse
		return dst, err
	}
	work.Bytes = payload
	defer work.Wipe(0)
	if refused := check(payload, c); refused != nil {
		return dst, refused
	}
	return append(dst, payload[headSize:]...), nil
}

// check verifies every claim of an authenticated payload. It uses the spare
// capacity of payload if there is enough.
func check(payload []byte, c *codecs.Context) *codecs.RejectError {
	if len(payload) < headSize || payload[0] != version {
		return errMalformed
	}
	now, issued := nanoseconds(c.Now), instant(payload[atIssued:])
	if issued > now && uint64(issued-now) > uint64(skew) { // the difference may overflow int64
		return errFuture
	}
	if instant(payload[atExpires:]) <= now {
		return errExpired
	}
	digest, err := digestOf(payload, payload[atSalt:atDigest], c)
	if err != nil || !digest.equals(payload[atDigest:headSize]) {
		return errMisbound
	}
	return nil
}

func instant(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// nanoseconds returns a time in nanoseconds since 1970, clamped to the range of
// int64.
func nanoseconds(t time.Time) int64 {
	const seconds = math.MaxInt64/int64(time.Second) - 1
	switch s := t.Unix(); {
	case s > seconds:
		return math.MaxInt64
	case s < -seconds:
		return math.MinInt64
	default:
		return t.UnixNano()
	}
}
