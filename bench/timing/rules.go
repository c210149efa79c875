package timing

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sealab/codecs"
	"sealab/internal/runfile"
)

func tagEnds(s *subject, random *rand.Rand) (*classPair, error) {
	last := func() ([][]byte, error) { return wrongTags(s.codec, random, -1, poolSize) }
	return s.besideWrongTags(random, last, codecs.Unauthentic)
}

// besideWrongTags returns two classes: tokens whose tag is wrong in its first byte, and other tokens that
// are refused at one of the given stages.
func (s *subject) besideWrongTags(random *rand.Rand, others func() ([][]byte, error), stages ...codecs.Stage) (*classPair, error) {
	wrong, err := wrongTags(s.codec, random, 0, poolSize)
	if err != nil {
		return nil, err
	}
	other, err := others()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.expect(wrong, codecs.Unauthentic), s.expect(other, stages...)); err != nil {
		return nil, err
	}
	return sameOperation(wrong, other, s.unseal()), nil
}

func payloadUnseal(s *subject, random *rand.Rand) (*classPair, error) {
	plain, err := tokenPool(s.codec, plainPayload)
	if err != nil {
		return nil, err
	}
	varied, err := tokenPool(s.codec, func() []byte { return randomPayload(random) })
	if err != nil {
		return nil, err
	}
	return sameOperation(plain, varied, s.unseal()), s.expect(append(plain, varied...))
}

func payloadSeal(s *subject, random *rand.Rand) (*classPair, error) {
	plain, varied := make([][]byte, poolSize), make([][]byte, poolSize)
	for i := range poolSize {
		plain[i], varied[i] = plainPayload(), randomPayload(random)
	}
	return sameOperation(plain, varied, s.seal()), nil
}

// keyBytes compares a fixed key with a random one. Both codecs are new, and the order of making them is
// random, so that their addresses vary over many clusters.
func keyBytes(d codecs.Design, random *rand.Rand) (*classPair, error) {
	keys := []*rand.Rand{rand.New(rand.NewPCG(1, 1)), random}
	made := make([]class, len(keys))
	for _, i := range random.Perm(len(keys)) {
		c, err := keyClass(d, keys[i], random)
		if err != nil {
			return nil, err
		}
		made[i] = c
	}
	return &classPair{a: made[0], b: made[1]}, nil
}

// keyPool is the number of tokens under one key. Each cluster has new keys.
const keyPool = 2

// keyClass returns tokens with wrong tags under a key drawn from keys.
func keyClass(d codecs.Design, keys, random *rand.Rand) (class, error) {
	s, err := openSubject(d, keys, 1)
	if err != nil {
		return class{}, err
	}
	pool, err := wrongTags(s.codec, random, 0, keyPool)
	if err != nil {
		return class{}, err
	}
	return class{pool, s.unseal()}, s.expect(pool, codecs.Unauthentic)
}

func tagContext(s *subject, random *rand.Rand) (*classPair, error) {
	return s.besideWrongContext(random, newContext("revert", verifyTime), codecs.Misbound, codecs.Unauthentic)
}

func tagExpired(s *subject, random *rand.Rand) (*classPair, error) {
	return s.besideWrongContext(random, newContext("deploy", verifyTime.Add(-2*tokenTTL-time.Hour)), codecs.Expired)
}

// besideWrongContext returns two classes: wrong tags, and tokens minted for another context or time.
func (s *subject) besideWrongContext(random *rand.Rand, b *codecs.Context, stages ...codecs.Stage) (*classPair, error) {
	if !s.IsScheme() {
		return nil, fmt.Errorf("%w: a codec has no context and no time", errNotApplicable)
	}
	elsewhere, err := s.with(s.secrets, b)
	if err != nil {
		return nil, err
	}
	authentic, err := tokenPool(elsewhere, func() []byte { return randomPayload(random) })
	if err != nil {
		return nil, err
	}
	if _, err := s.codec.Unseal(nil, authentic[0]); err == nil {
		return nil, fmt.Errorf("%w: the design takes such tokens", errNotApplicable)
	}
	return s.besideWrongTags(random, func() ([][]byte, error) { return authentic, nil }, stages...)
}

func keyID(s *subject, random *rand.Rand) (*classPair, error) {
	other, err := openSubject(s.Design, random, 1)
	if err != nil {
		return nil, err
	}
	unknown := func() ([][]byte, error) {
		return tokenPool(other.codec, func() []byte { return randomPayload(random) })
	}
	return s.besideWrongTags(random, unknown, codecs.UnknownKey, codecs.Unauthentic)
}

func ringPlace(d codecs.Design, random *rand.Rand) (*classPair, error) {
	if d.MaxKeys == 1 {
		return nil, fmt.Errorf("%w: the design has one key", errNotApplicable)
	}
	s, err := openSubject(d, random, ringSize)
	if err != nil {
		return nil, err
	}
	last, err := s.with(s.secrets[ringSize-1:], newContext("deploy", verifyTime))
	if err != nil {
		return nil, err
	}
	behind := func() ([][]byte, error) { return wrongTags(last, random, 0, poolSize) }
	return s.besideWrongTags(random, behind, codecs.Unauthentic)
}

// ringSize is the number of keys in comparisons of positions in a ring.
const ringSize = 16

// A rule is a pair of input classes that must take the same time.
type rule struct {
	pair, a, b, tells string
	// refutes is the guarantee that a difference refutes. It is empty if a difference reveals no secret
	// and is only an observation.
	refutes codecs.Property
	// onlyWith is a guarantee. Without it, the compared value is public.
	onlyWith codecs.Property
	// notWith is a guarantee. With it, the compared value is public.
	notWith   codecs.Property
	clustered bool
	prepare   func(d codecs.Design, random *rand.Rand) (*classPair, error)
}

// withSubject returns the prepare function of a rule for a design under one random secret.
func withSubject(prepare func(s *subject, random *rand.Rand) (*classPair, error)) func(codecs.Design, *rand.Rand) (*classPair, error) {
	return func(d codecs.Design, random *rand.Rand) (*classPair, error) {
		s, err := openSubject(d, random, 1)
		if err != nil {
			return nil, err
		}
		return prepare(s, random)
	}
}

// timingRules lists the pairs that must take the same time. Length and spelling are public and may affect
// the time.
//
// Three rules concern the cause of a refusal or the position of a key in the ring. The presenter of a
// token already knows whether it was issued to them, and can read its key ID. A difference in these is
// reported as an observation.
var timingRules = []rule{
	{pair: "tag-ends", a: "tag wrong in its first byte", b: "tag wrong in its last byte",
		tells: "how much of a guessed tag is right, so that a tag can be found byte by byte", refutes: codecs.SteadyTiming, notWith: codecs.SenderAuthenticated, prepare: withSubject(tagEnds)},
	{pair: "payload-unseal", a: "payload of one letter", b: "payload of random letters",
		tells: "the payload", refutes: codecs.SteadyTiming, onlyWith: codecs.Confidentiality, prepare: withSubject(payloadUnseal)},
	{pair: "payload-seal", a: "payload of one letter", b: "payload of random letters",
		tells: "the payload", refutes: codecs.SteadyTiming, onlyWith: codecs.Confidentiality, prepare: withSubject(payloadSeal)},
	{pair: "key-bytes", a: "one key", b: "a new key for each cluster",
		tells: "the key", refutes: codecs.SteadyTiming, clustered: true, prepare: keyBytes},
	{pair: "tag-context", a: "tag wrong", b: "tag right, minted for another target",
		tells: "whether a refused token is authentic", prepare: withSubject(tagContext)},
	{pair: "tag-expired", a: "tag wrong", b: "tag right, expired",
		tells: "whether a refused token is authentic", prepare: withSubject(tagExpired)},
	{pair: "key-id", a: "key in the ring, tag wrong", b: "key not in the ring",
		tells: "whether a key is in the ring; its id is in every token", prepare: withSubject(keyID)},
	{pair: "ring-place", a: "first key of sixteen", b: "last key of sixteen",
		tells: "the place of a key in the ring; its id is in every token", prepare: ringPlace},
}

// Designs returns the comparisons of every rule with every design. Preparing a comparison reveals whether
// its rule applies.
func Designs(all []codecs.Design) []Comparison {
	var comparisons []Comparison
	for _, d := range all {
		for _, r := range timingRules {
			comparisons = append(comparisons, r.comparison(d))
		}
	}
	return comparisons
}

func (r rule) comparison(d codecs.Design) Comparison {
	return Comparison{
		Probe: runfile.Probe{
			Subject: d.Name, Pair: r.pair, A: r.a, B: r.b, Tells: r.tells,
			Property: string(r.property(d)), Channel: "process",
		},
		Clustered: r.clustered,
		prepare:   func(random *rand.Rand) (*classPair, error) { return r.prepare(d, random) },
	}
}

// property returns the guarantee of d that a difference refutes. It returns "" if d does not claim it or
// the compared value is public.
func (r rule) property(d codecs.Design) codecs.Property {
	for _, p := range []codecs.Property{r.refutes, r.onlyWith} {
		if g, ok := d.Guarantee(p, nil); p != "" && ok && !g.Holds {
			return ""
		}
	}
	if g, ok := d.Guarantee(r.notWith, nil); ok && g.Holds {
		return ""
	}
	return r.refutes
}

// isNotApplicable reports whether err means that a comparison does not apply to its subject.
func isNotApplicable(err error) bool {
	return errors.Is(err, errNotApplicable) || errors.Is(err, codecs.ErrUnsupported)
}
