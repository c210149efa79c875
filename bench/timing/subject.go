package timing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// tokenTTL is the time to live of schemes' tokens, and verifyTime the time of their verification.
const tokenTTL = 10 * time.Minute

var verifyTime = time.Unix(1_795_132_800, 0)

// payloadSize is the length in bytes of the payloads.
const payloadSize = 200

// A subject is a design under test with its ring.
type subject struct {
	codecs.Design
	secrets [][]byte
	codec   *lab.Bound
}

// openSubject opens a design under a ring of n random secrets.
func openSubject(d codecs.Design, random *rand.Rand, n int) (*subject, error) {
	s := &subject{Design: d, secrets: make([][]byte, n)}
	for i := range s.secrets {
		s.secrets[i] = randomBytes(random, max(d.KeySize, codecs.MinSecret))
	}
	c, err := s.with(s.secrets, newContext("deploy", verifyTime))
	s.codec = c
	return s, err
}

// with opens the design under another ring, in a context.
func (s *subject) with(secrets [][]byte, c *codecs.Context) (*lab.Bound, error) {
	return lab.OpenAt(s.Design, codecs.Config{Secrets: secrets, TTL: new(tokenTTL)}, c)
}

// newContext returns the context for tokens with the given target and time.
func newContext(target string, at time.Time) *codecs.Context {
	return &codecs.Context{
		Now:    at,
		Method: "tools/call", Target: target, Arguments: json.RawMessage(`{"env":"prod"}`),
		Principal: new("alice"), Audience: new("releases"),
	}
}

// unseal returns the operation that most comparisons time.
func (s *subject) unseal() func([]byte) {
	dst := make([]byte, 0, 16*payloadSize)
	return func(token []byte) { s.codec.Unseal(dst, token) }
}

// seal returns the operation of comparisons about payloads.
func (s *subject) seal() func([]byte) {
	dst := make([]byte, 0, 16*payloadSize)
	return func(payload []byte) { s.codec.Seal(dst, payload) }
}

// randomPayload returns a payload that every design can carry: a JSON string of random letters.
func randomPayload(random *rand.Rand) []byte {
	b := plainPayload()
	for i := range b[2:] {
		b[1+i] += byte(random.IntN(26))
	}
	return b
}

// plainPayload returns a JSON string of one repeated letter.
func plainPayload() []byte { return []byte(`"` + strings.Repeat("a", payloadSize-2) + `"`) }

// tokenPool seals a pool of tokens with c.
func tokenPool(c codecs.Codec, payload func() []byte) ([][]byte, error) {
	pool := make([][]byte, poolSize)
	for i := range pool {
		token, err := c.Seal(nil, payload())
		if err != nil {
			return nil, err
		}
		pool[i] = token
	}
	return pool, nil
}

// errNotApplicable means that the design lacks the property that a comparison is about.
var errNotApplicable = errors.New("does not apply")

// wrongTags returns n tokens whose tag is wrong in one byte: the first if place is 0, the last if it is
// -1.
func wrongTags(c *lab.Bound, random *rand.Rand, place, n int) ([][]byte, error) {
	if !c.Instance.Edited() {
		return nil, fmt.Errorf("%w: the design does not seal step by step", errNotApplicable)
	}
	pool := make([][]byte, n)
	for i := range pool {
		changed := false
		token, err := c.SealEdited(nil, randomBytes(random, c.SeedSize()), randomPayload(random), func(s lab.Step, value []byte) []byte {
			if s == lab.WireTag && len(value) > 0 {
				changed = true
				changeByte(&value[(place+len(value))%len(value)], isHex(value), random)
			}
			return value
		})
		if err != nil {
			return nil, err
		}
		if !changed {
			return nil, fmt.Errorf("%w: the design's tokens have no tag of their own", errNotApplicable)
		}
		pool[i] = token
	}
	return pool, nil
}

// changeByte replaces *b by another random byte, or by another hexadecimal digit.
func changeByte(b *byte, digit bool, random *rand.Rand) {
	if digit {
		*b = hexDigits[(strings.IndexByte(hexDigits, *b)+1+random.IntN(len(hexDigits)-1))%len(hexDigits)]
		return
	}
	*b ^= byte(1 + random.IntN(255))
}

// isHex reports whether a tag consists of lower-case hexadecimal digits.
func isHex(tag []byte) bool { return len(bytes.Trim(tag, hexDigits)) == 0 }

// expect returns an error unless every token of the pool has the outcome that the comparison needs:
// refused at one of the stages, or accepted if stages is empty.
func (s *subject) expect(pool [][]byte, stages ...codecs.Stage) error {
	for _, token := range pool {
		if _, err := s.codec.Unseal(nil, token); !endedAt(err, stages) {
			return fmt.Errorf("%s: a token was to end as %v and ended with %v", s.Name, stages, outcomeText(err))
		}
	}
	return nil
}

// endedAt reports whether err is expected: a refusal at one of the stages, or nil if stages is empty.
func endedAt(err error, stages []codecs.Stage) bool {
	r := codecs.Rejected(err)
	if r == nil {
		return err == nil && len(stages) == 0
	}
	return slices.Contains(stages, r.Stage)
}

func outcomeText(err error) string {
	if r := codecs.Rejected(err); r != nil {
		return r.Stage.String()
	}
	return fmt.Sprint(err)
}
