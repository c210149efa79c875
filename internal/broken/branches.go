package broken

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// rareBranchControls returns controls whose mistake shows only for some tokens, contexts or times, or on
// only one of several code paths.
func rareBranchControls() []Control {
	return []Control{
		contextAs("method-of-users", "the method is bound for those who are signed in", []codecs.Property{codecs.BindsMethod}, []string{"CTX-14"}, func(c *codecs.Context) {
			if c.Principal == nil {
				c.Method = ""
			}
		}),
		aScheme("nothing-to-compare", "a context without a value asks for no comparison",
			[]codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience}, []string{"CTX-14"}, func(p *schemeParts) {
				p.compared = func(c *codecs.Context) bool { return strings.Join(contextTexts(c), "") != "" }
			}),
		contextAs("target-beside-long", "the target is not bound if the arguments have more than 1 KiB", []codecs.Property{codecs.BindsTarget}, []string{"CTX-17"}, func(c *codecs.Context) {
			if len(c.Arguments) > 1<<10 {
				c.Target = ""
			}
		}),
		contextAs("arguments-of-resources", "the arguments are not bound if the method is about resources", []codecs.Property{codecs.BindsArguments}, []string{"CTX-17"}, func(c *codecs.Context) {
			if strings.HasPrefix(c.Method, "resources/") {
				c.Arguments = nil
			}
		}),
		contextAs("principal-of-services", "the audience is not bound if the principal is a service", []codecs.Property{codecs.BindsAudience}, []string{"CTX-17"}, func(c *codecs.Context) {
			if strings.HasPrefix(textOrEmpty(c.Principal), "service:") {
				c.Audience = nil
			}
		}),
		wrappedScheme("early-prompts", "the time of issue is not read for prompts", []codecs.Property{codecs.Expiry}, []string{"EXP-07"}, func(inner codecs.Scheme) codecs.Scheme { return earlyPrompts{inner} }),
		targetOf("resources/read", "target-of-resources", "the target is lower-cased if it is a resource", strings.ToLower),
		targetOf("x/unknown", "target-of-others", "of the target of an unknown method the last part is bound", path.Base),
		contextAs("numbers-of-prompts", "numbers are read as floating point for prompts", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			var members any
			if c.Method == "prompts/get" && json.Unmarshal(c.Arguments, &members) == nil {
				c.Arguments = inJSON(members)
			}
		}),
		contextAs("scopes-sorted", "the scopes of the arguments are sorted", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, withSortedScopes),
		contextAs("null-members", "members that are null are left out of the arguments", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, withoutNulls),
		contextAs("members-summed", "the digests of members are summed by exclusive or", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, membersSummed),
		wrapScheme(withClaim(contextAs("used-by-method", "used tokens are kept with their method, which is not bound", []codecs.Property{codecs.SingleUse, codecs.BindsMethod}, []string{"EXP-05"}, func(c *codecs.Context) {
			c.Method = ""
		}), codecs.SingleUse), usedOnce(func(c *codecs.Context) string { return c.Method })),
		aScheme("expiry-as-text", "times are compared as texts", []codecs.Property{codecs.Expiry}, []string{"EXP-07"}, func(p *schemeParts) {
			p.timely = func(c *claims, now time.Time) bool {
				return c.Issued != nil && c.Expires != nil && *c.Issued <= unixSeconds(now.Add(clockSkew)) && formatDecimal(unixSeconds(now)) < formatDecimal(*c.Expires)
			}
		}),
		inBatches(aScheme("late-in-batch", "the time is not checked in a batch", []codecs.Property{codecs.Expiry}, []string{"CTX-15"}, func(*schemeParts) {}), ignoreBatchExpiry),
		inBatches(aScheme("late-behind-fresh", "in a batch the time is checked until a token is accepted", []codecs.Property{codecs.Expiry}, []string{"CTX-15"}, func(*schemeParts) {}), untimedBehind),
		inBatches(aScheme("kept-of-batch", "a verdict of a batch is kept under the context without its target", []codecs.Property{codecs.BindsTarget}, []string{"CTX-15"}, func(*schemeParts) {}), keptOfBatch),
		inBatches(aScheme("states-in-one-buffer", "the states of a batch share one buffer", []codecs.Property{codecs.ByteExact}, []string{"RES-03"}, func(*schemeParts) {}), inOneBuffer),
		inBatches(aScheme("batch-by-beginning", "in a batch, tokens of one length with one beginning of 64 characters have one verdict", []codecs.Property{codecs.Integrity}, []string{"RES-05"}, func(*schemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme { return alikeAtFirst{inner} }),
		inBatches(aScheme("batch-sorted", "the answers to 16 tokens or more have the order of the sorted tokens", []codecs.Property{codecs.ByteExact, codecs.Integrity}, []string{"RES-05"}, func(*schemeParts) {}),
			func(inner codecs.Scheme) lab.BatchScheme { return sortedBatches{inner} }),
		withClaim(wrappedScheme("spent-by-text", "used tokens are kept by their text, and padding is stripped after that",
			[]codecs.Property{codecs.SingleUse, codecs.Canonical}, []string{"EXP-05"}, spentByText()), codecs.SingleUse),
		inBatches(withClaim(aScheme("spent-alone", "tokens of a batch are not marked as used", []codecs.Property{codecs.SingleUse}, []string{"EXP-05"}, func(*schemeParts) {}), codecs.SingleUse), spentAlone()),
	}
}

// An earlyPrompts scheme accepts a token for a prompt up to two days before the token was minted.
type earlyPrompts struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s earlyPrompts) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, c)
	for later := time.Hour; err != nil && c.Method == "prompts/get" && later <= 48*time.Hour; later += time.Hour {
		out, err = s.Scheme.Verify(dst, token, shifted(c, later))
	}
	return out, err
}

// targetOf returns a control that binds read(target) for one method.
func targetOf(method, name, doc string, read func(string) string) Control {
	return contextAs(name, doc, []codecs.Property{codecs.BindsTarget, codecs.Unambiguous}, []string{"CTX-19"}, func(c *codecs.Context) {
		if c.Method == method {
			c.Target = read(c.Target)
		}
	})
}

// withoutNulls removes null members from the arguments.
func withoutNulls(c *codecs.Context) {
	var members map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &members) == nil && members != nil {
		maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
		c.Arguments = inJSON(members)
	}
}

// withSortedScopes sorts the list of scopes in the arguments.
func withSortedScopes(c *codecs.Context) {
	var members map[string]json.RawMessage
	var scopes []string
	if json.Unmarshal(c.Arguments, &members) == nil && json.Unmarshal(members["scopes"], &scopes) == nil {
		slices.Sort(scopes)
		members["scopes"] = inJSON(scopes)
		c.Arguments = inJSON(members)
	}
}

// membersSummed replaces the arguments by the XOR of the digests of their members.
func membersSummed(c *codecs.Context) {
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return
	}
	sum := make([]byte, sha256.Size)
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return
		}
		member := sha256.Sum256(fmt.Appendf(nil, "%q %s", name, value))
		subtle.XORBytes(sum, sum, member[:])
	}
	c.Arguments = sum
}

func formatDecimal(seconds float64) string { return strconv.FormatFloat(seconds, 'f', -1, 64) }

// inBatches returns c with its scheme wrapped in one that verifies batches.
func inBatches(c Control, judge func(codecs.Scheme) lab.BatchScheme) Control {
	return wrapScheme(c, func(inner codecs.Scheme) codecs.Scheme { return judge(inner) })
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
			return inner.Verify(nil, token, shifted(b, -400*24*time.Hour))
		}
		return state, err
	}
}

// keptOfBatch caches the answers of a batch for later calls.
func keptOfBatch(inner codecs.Scheme) lab.BatchScheme {
	kept := &cachedScheme{Scheme: inner, name: func(token string, c *codecs.Context) string {
		less := *c
		less.Target = ""
		return token + encodeContext(&less) + c.Now.String()
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

// unpaddedScheme strips padding from tokens.
type unpaddedScheme struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s unpaddedScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	return s.Scheme.Verify(dst, bytes.TrimRight(token, "="), c)
}

// spentByText returns a wrapper that accepts each spelling of a token once.
func spentByText() func(codecs.Scheme) codecs.Scheme {
	once := usedOnce(inAnyContext)
	return func(inner codecs.Scheme) codecs.Scheme { return once(unpaddedScheme{inner}) }
}

// spentAlone returns a wrapper that spends only tokens that are presented outside of a batch.
func spentAlone() func(codecs.Scheme) lab.BatchScheme {
	once := usedOnce(inAnyContext)
	return func(inner codecs.Scheme) lab.BatchScheme {
		return batchedScheme{once(inner), func(token []byte, b *codecs.Context) ([]byte, error) { return inner.Verify(nil, token, b) }}
	}
}
