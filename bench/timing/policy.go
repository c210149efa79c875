package timing

import (
	"errors"
	"math/rand/v2"

	"sealab/codecs"
	"sealab/internal/runfile"
)

// ringSize is the number of keys where the place in the ring counts.
const ringSize = 16

// A rule is one pair of inputs that must take the same time.
type rule struct {
	pair, a, b, tells string
	// refutes is the guarantee that a difference goes against; empty where a
	// difference shows something that is no secret: then it is an observation.
	refutes codecs.Property
	// onlyWith is a guarantee without which what the rule is about is no secret.
	onlyWith  codecs.Property
	clustered bool
	prepare   func(d codecs.Design, random *rand.Rand) (*classes, error)
}

// policy is what must not differ. What may differ is public: length, spelling.
//
// Three rules are about the cause of a refusal or the place of a key in the
// ring. Whoever presents a token knows whether it was issued to them and reads
// the key id in it, so a difference there is reported and counts against nothing.
var policy = []rule{
	{pair: "tag-ends", a: "tag wrong in its first byte", b: "tag wrong in its last byte",
		tells: "how much of a guessed tag is right, so that a tag can be found byte by byte", refutes: codecs.SteadyTiming, prepare: tagEnds},
	{pair: "payload-unseal", a: "payload of one letter", b: "payload of random letters",
		tells: "the payload", refutes: codecs.SteadyTiming, onlyWith: codecs.Confidentiality, prepare: payloadUnseal},
	{pair: "payload-seal", a: "payload of one letter", b: "payload of random letters",
		tells: "the payload", refutes: codecs.SteadyTiming, onlyWith: codecs.Confidentiality, prepare: payloadSeal},
	{pair: "key-bytes", a: "one key", b: "a new key for each cluster",
		tells: "the key", refutes: codecs.SteadyTiming, clustered: true, prepare: keyBytes},
	{pair: "tag-context", a: "tag wrong", b: "tag right, minted for another target",
		tells: "whether a refused token is authentic", prepare: tagContext},
	{pair: "tag-expired", a: "tag wrong", b: "tag right, expired",
		tells: "whether a refused token is authentic", prepare: tagExpired},
	{pair: "key-id", a: "key in the ring, tag wrong", b: "key not in the ring",
		tells: "whether a key is in the ring; its id is in every token", prepare: keyID},
	{pair: "ring-place", a: "first key of sixteen", b: "last key of sixteen",
		tells: "the place of a key in the ring; its id is in every token", prepare: ringPlace},
}

// Designs returns the trials of every rule at every design. Whether a rule
// applies is found out when a trial is prepared.
func Designs(all []codecs.Design) []Trial {
	var trials []Trial
	for _, d := range all {
		for _, r := range policy {
			trials = append(trials, r.trial(d))
		}
	}
	return trials
}

func (r rule) trial(d codecs.Design) Trial {
	return Trial{
		Probe: runfile.Probe{
			Subject: d.Name, Pair: r.pair, A: r.a, B: r.b, Tells: r.tells,
			Property: string(r.property(d)), Channel: "process",
		},
		Clustered: r.clustered,
		prepare:   func(random *rand.Rand) (*classes, error) { return r.prepare(d, random) },
	}
}

// property returns the guarantee of d that a difference refutes, if it states it.
func (r rule) property(d codecs.Design) codecs.Property {
	for _, p := range []codecs.Property{r.refutes, r.onlyWith} {
		if g, ok := d.Guarantee(p, nil); p != "" && ok && !g.Holds {
			return ""
		}
	}
	return r.refutes
}

// isNotApplicable reports whether err says that a trial has nothing to measure at
// its subject.
func isNotApplicable(err error) bool {
	return errors.Is(err, errNotApplicable) || errors.Is(err, codecs.ErrUnsupported)
}
