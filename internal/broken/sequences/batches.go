package sequences

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// Batches returns controls whose mistake shows in batches, or in tokens that are used once.
func Batches() []skeleton.Control {
	return []skeleton.Control{
		inBatches(skeleton.NewScheme("late-in-batch", "the time is not checked in a batch", []codecs.Property{codecs.Expiry}, []string{"CTX-15"}, func(*skeleton.SchemeParts) {}), ignoreBatchExpiry),
		inBatches(skeleton.NewScheme("late-behind-fresh", "in a batch the time is checked until a token is accepted", []codecs.Property{codecs.Expiry}, []string{"CTX-15"}, func(*skeleton.SchemeParts) {}), untimedBehind),
		inBatches(skeleton.NewScheme("kept-of-batch", "a verdict of a batch is kept under the context without its target", []codecs.Property{codecs.BindsTarget}, []string{"CTX-15"}, func(*skeleton.SchemeParts) {}), keptOfBatch),
		inBatches(skeleton.NewScheme("states-in-one-buffer", "the states of a batch share one buffer", []codecs.Property{codecs.ByteExact}, []string{"RES-03"}, func(*skeleton.SchemeParts) {}), inOneBuffer),
		inBatches(skeleton.NewScheme("batch-by-beginning", "in a batch, tokens of one length with one beginning of 64 characters have one verdict", []codecs.Property{codecs.Integrity}, []string{"RES-05"}, func(*skeleton.SchemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme { return alikeAtFirst{inner} }),
		inBatches(skeleton.NewScheme("batch-sorted", "the answers to 16 tokens or more have the order of the sorted tokens", []codecs.Property{codecs.ByteExact, codecs.Integrity}, []string{"RES-05"}, func(*skeleton.SchemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme { return sortedBatches{inner} }),
		inBatches(skeleton.NewScheme("batch-by-place", "an empty text has the verdict that stood at its place in the batch before", []codecs.Property{codecs.Integrity}, []string{"RES-05"}, func(*skeleton.SchemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme { return &keptPlaces{Scheme: inner} }),
		inBatches(skeleton.NewScheme("reasons-in-batch", "single tokens are refused with one reason, and those of a batch with their own", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-03"}, func(*skeleton.SchemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme {
				return batchedScheme{oneReason{inner}, func(token []byte, c *codecs.Context) ([]byte, error) { return inner.Verify(nil, token, c) }}
			}),
		skeleton.WithClaim(skeleton.NewWrappedScheme("spent-by-text", "used tokens are kept by their text, and padding is stripped after that",
			[]codecs.Property{codecs.SingleUse, codecs.Canonical}, []string{"EXP-05"}, spentByText(func(token []byte) []byte { return bytes.TrimRight(token, "=") })), codecs.SingleUse),
		skeleton.WithClaim(skeleton.NewWrappedScheme("spent-by-alphabet", "used tokens are kept by their text, and the other base64 alphabet is read as well",
			[]codecs.Property{codecs.SingleUse, codecs.Canonical}, []string{"EXP-05"}, spentByText(func(token []byte) []byte {
				return bytes.ReplaceAll(bytes.ReplaceAll(token, []byte("+"), []byte("-")), []byte("/"), []byte("_"))
			})), codecs.SingleUse),
		inBatches(skeleton.WithClaim(skeleton.NewScheme("spent-alone", "tokens of a batch are not marked as used", []codecs.Property{codecs.SingleUse}, []string{"EXP-05"}, func(*skeleton.SchemeParts) {}), codecs.SingleUse), spentAlone()),
	}
}

// inBatches returns c with its scheme wrapped in one that verifies batches.
func inBatches(c skeleton.Control, judge func(codecs.Scheme) lab.BatchScheme) skeleton.Control {
	return skeleton.WrapScheme(c, func(inner codecs.Scheme) codecs.Scheme { return judge(inner) })
}

// A batchedScheme verifies each token of a batch with one.
type batchedScheme struct {
	codecs.Scheme
	one func(token []byte, b *codecs.Context) ([]byte, error)
}

// VerifyAll implements lab.BatchScheme.
func (s batchedScheme) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	var all []lab.Answer
	for _, token := range tokens {
		state, err := s.one(token, b)
		all = append(all, lab.Answer{Payload: state, Err: err})
	}
	return all, nil
}

// A oneReason scheme refuses every token with one reason.
type oneReason struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s oneReason) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, c)
	if codecs.Rejected(err) != nil {
		return dst, skeleton.ErrUnauthentic
	}
	return out, err
}

// ignoreBatchExpiry accepts expired tokens in a batch.
func ignoreBatchExpiry(inner codecs.Scheme) lab.BatchScheme {
	return batchedScheme{inner, atAnyTime(inner)}
}

// inOneBuffer returns the states of a batch in one shared buffer.
func inOneBuffer(inner codecs.Scheme) lab.BatchScheme {
	var buffer []byte
	return batchedScheme{inner, func(token []byte, c *codecs.Context) (state []byte, err error) {
		buffer, err = inner.Verify(buffer[:0], token, c)
		return buffer, err
	}}
}

// An alikeAtFirst scheme answers tokens of a batch alike if their lengths and first 64 bytes agree.
type alikeAtFirst struct{ codecs.Scheme }

// VerifyAll implements lab.BatchScheme.
func (s alikeAtFirst) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	known := map[string]lab.Answer{}
	var all []lab.Answer
	for _, token := range tokens {
		name := fmt.Sprintf("%d %s", len(token), token[:min(64, len(token))])
		if _, ok := known[name]; !ok {
			state, err := s.Verify(nil, token, b)
			known[name] = lab.Answer{Payload: state, Err: err}
		}
		all = append(all, known[name])
	}
	return all, nil
}

// A keptPlaces scheme keeps the answers of a batch for the next one, and judges no empty text.
type keptPlaces struct {
	codecs.Scheme

	mu      sync.Mutex
	answers []lab.Answer
}

// VerifyAll implements lab.BatchScheme.
func (s *keptPlaces) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.answers) < len(tokens) {
		s.answers = append(s.answers, lab.Answer{Err: skeleton.ErrMalformed})
	}
	for i, token := range tokens {
		if len(token) > 0 {
			state, err := s.Verify(nil, token, b)
			s.answers[i] = lab.Answer{Payload: state, Err: err}
		}
	}
	return slices.Clone(s.answers[:len(tokens)]), nil
}

// A sortedBatches scheme sorts a long batch, and leaves the answers in that order.
type sortedBatches struct{ codecs.Scheme }

// VerifyAll implements lab.BatchScheme.
func (s sortedBatches) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	if len(tokens) >= 16 {
		tokens = slices.SortedFunc(slices.Values(tokens), bytes.Compare)
	}
	return batchedScheme{s, func(token []byte, c *codecs.Context) ([]byte, error) { return s.Verify(nil, token, c) }}.VerifyAll(tokens, b)
}

// An untimedFollowerScheme is a scheme that ignores the expiry of the tokens that follow an accepted token
// in a batch.
type untimedFollowerScheme struct{ codecs.Scheme }

// untimedBehind wraps a scheme in an untimedFollowerScheme.
func untimedBehind(inner codecs.Scheme) lab.BatchScheme { return untimedFollowerScheme{inner} }

// VerifyAll implements lab.BatchScheme.
func (s untimedFollowerScheme) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	judge := func(token []byte, b *codecs.Context) ([]byte, error) { return s.Verify(nil, token, b) }
	var all []lab.Answer
	for _, token := range tokens {
		state, err := judge(token, b)
		if err == nil {
			judge = atAnyTime(s.Scheme)
		}
		all = append(all, lab.Answer{Payload: state, Err: err})
	}
	return all, nil
}

// atAnyTime verifies tokens. It verifies an expired token again as of 400 days earlier.
func atAnyTime(inner codecs.Scheme) func(token []byte, b *codecs.Context) ([]byte, error) {
	return func(token []byte, b *codecs.Context) ([]byte, error) {
		state, err := inner.Verify(nil, token, b)
		if r := codecs.Rejected(err); r != nil && r.Stage == codecs.Expired {
			return inner.Verify(nil, token, skeleton.Shifted(b, -400*24*time.Hour))
		}
		return state, err
	}
}

// keptOfBatch caches the answers of a batch for later calls.
func keptOfBatch(inner codecs.Scheme) lab.BatchScheme {
	kept := &cachedScheme{Scheme: inner, name: func(token string, c *codecs.Context) string {
		less := *c
		less.Target = ""
		return token + skeleton.EncodeContext(&less) + c.Now.String()
	}}
	return batchedScheme{readOnlyCache{kept}, func(token []byte, c *codecs.Context) ([]byte, error) { return kept.Verify(nil, token, c) }}
}

// readOnlyCache looks up cached answers without adding to them.
type readOnlyCache struct{ *cachedScheme }

// Verify implements codecs.Scheme.
func (s readOnlyCache) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state, ok := s.states[s.name(string(token), c)]; ok {
		return append(dst, state...), nil
	}
	return s.Scheme.Verify(dst, token, c)
}

// A respelledScheme changes the spelling of tokens before it reads them.
type respelledScheme struct {
	codecs.Scheme
	respell func(token []byte) []byte
}

// Verify implements codecs.Scheme.
func (s respelledScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	return s.Scheme.Verify(dst, s.respell(token), c)
}

// spentByText returns a wrapper that accepts each spelling of a token once.
func spentByText(respell func(token []byte) []byte) func(codecs.Scheme) codecs.Scheme {
	once := skeleton.UsedOnce(skeleton.InAnyContext)
	return func(inner codecs.Scheme) codecs.Scheme { return once(respelledScheme{inner, respell}) }
}

// spentAlone returns a wrapper that spends only tokens that are presented outside of a batch.
func spentAlone() func(codecs.Scheme) lab.BatchScheme {
	once := skeleton.UsedOnce(skeleton.InAnyContext)
	return func(inner codecs.Scheme) lab.BatchScheme {
		return batchedScheme{once(inner), func(token []byte, b *codecs.Context) ([]byte, error) { return inner.Verify(nil, token, b) }}
	}
}
