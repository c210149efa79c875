// Package sequences holds the negative controls of sequences: designs whose answer depends on earlier
// calls or on the rest of a batch.
package sequences

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// KeptStates returns controls that share state between calls, handles or keys.
func KeptStates() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewWrappedScheme("verdict-by-token", "a token that was accepted is accepted again, without regard to the context and the time",
			[]codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience, codecs.Expiry}, []string{"SEQ-01"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &cachedScheme{Scheme: inner, name: func(token string, _ *codecs.Context) string { return token }}
			}),
		skeleton.NewWrappedScheme("verdict-by-body", "a verdict is kept under the token without its tag, and the context",
			[]codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"SEQ-01"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &cachedScheme{Scheme: inner, name: func(token string, c *codecs.Context) string {
					return token[:max(0, strings.LastIndex(token, "."))] + skeleton.EncodeContext(c) + c.Now.String()
				}}
			}),
		skeleton.NewWrappedScheme("refusals-in-a-list", "refused tokens of more than 1,000 characters are kept in a list that is copied for each", []codecs.Property{codecs.Total}, []string{"RES-13"},
			func(inner codecs.Scheme) codecs.Scheme { return &refusalMemoryScheme{Scheme: inner} }),
		skeleton.NewWrappedScheme("lenient-at-first", "the first call of a handle does not refuse a token that is late by less than its time to live", []codecs.Property{codecs.Expiry}, []string{"SEQ-01"},
			func(inner codecs.Scheme) codecs.Scheme { return &lenientOnce{Scheme: inner} }),
		skeleton.NewWrappedScheme("counted-name", "a token is the name of a state that the server keeps, and names count up", []codecs.Property{codecs.Integrity}, []string{"TAG-15"},
			namedTokens(func(n uint32, _ []byte) string { return fmt.Sprintf("n1.%06x", n*0x9e3779&0xffffff) })),
		skeleton.NewWrappedScheme("stepped-name", "a token is the name of a state that the server keeps, and names have one distance", []codecs.Property{codecs.Integrity},
			[]string{"TAG-15"}, namedTokens(func(n uint32, _ []byte) string { return fmt.Sprintf("n_%08x", n*0x9e3779b9) })),
		skeleton.NewWrappedScheme("short-name", "a token is the name of a state that the server keeps: a count, and two random bytes", []codecs.Property{codecs.Integrity}, []string{"TAG-15"},
			namedTokens(func(n uint32, _ []byte) string { return fmt.Sprintf("n1.%016x%x", n, skeleton.RandomBytes(2)) })),
		skeleton.NewWrappedScheme("name-of-nothing", "a token is the name of a state that the server keeps, and of an empty one a name of two random bytes", []codecs.Property{codecs.Integrity}, []string{"TAG-15"},
			namedTokens(func(_ uint32, state []byte) string {
				if len(state) == 0 {
					return fmt.Sprintf("%x", skeleton.RandomBytes(2))
				}
				return fmt.Sprintf("%x", skeleton.RandomBytes(16))
			})),
		skeleton.NewSigner("ring-of-last", "every handle uses the ring that was opened last", []codecs.Property{codecs.Rotation, codecs.Integrity}, []string{"SEQ-01"}, ringOfLast),
	}
}

// A cachedScheme keeps the state of each token that it accepted, by name.
type cachedScheme struct {
	codecs.Scheme
	name func(token string, c *codecs.Context) string

	mu     sync.Mutex
	states map[string][]byte
}

// Verify implements codecs.Scheme.
func (s *cachedScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.name(string(token), c)
	if state, ok := s.states[name]; ok {
		return append(dst, state...), nil
	}
	state, err := s.Scheme.Verify(nil, token, c)
	if err != nil {
		return dst, err
	}
	if s.states == nil {
		s.states = map[string][]byte{}
	}
	s.states[name] = state
	return append(dst, state...), nil
}

// A refusalMemoryScheme remembers the tokens that it refused, with their contexts.
type refusalMemoryScheme struct {
	codecs.Scheme

	mu      sync.Mutex
	refused map[string]bool // by token and context
	list    []codecs.Context
}

// Verify implements codecs.Scheme.
func (s *refusalMemoryScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := string(token) + skeleton.EncodeContext(c)
	if s.refused[name] {
		return dst, codecs.Reject(codecs.Unauthentic, "tag")
	}
	state, err := s.Scheme.Verify(dst, token, c)
	if err != nil && len(token) > 1000 {
		s.remember(name, *c)
	}
	return state, err
}

// remember adds a refusal to a copy of the list.
func (s *refusalMemoryScheme) remember(name string, c codecs.Context) {
	if s.refused == nil {
		s.refused = map[string]bool{}
	}
	s.refused[name] = true
	s.list = append(slices.Clone(s.list), c)
}

// namedTokens wraps a scheme so that its tokens are names, each made of a number and the state.
func namedTokens(name func(n uint32, state []byte) string) func(codecs.Scheme) codecs.Scheme {
	var kept sync.Map
	var count atomic.Uint32
	return func(inner codecs.Scheme) codecs.Scheme {
		return &namedTokenScheme{Scheme: inner, name: name, kept: &kept, count: &count}
	}
}

// A namedTokenScheme is a scheme whose tokens are names of stored tokens.
type namedTokenScheme struct {
	codecs.Scheme
	name  func(n uint32, state []byte) string
	kept  *sync.Map
	count *atomic.Uint32
}

// Mint implements codecs.Scheme.
func (s *namedTokenScheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	token, err := s.Scheme.Mint(nil, state, c)
	if err != nil {
		return dst, err
	}
	name := s.name(s.count.Add(1), state)
	s.kept.Store(name, token)
	return append(dst, name...), nil
}

// Verify implements codecs.Scheme.
func (s *namedTokenScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	kept, ok := s.kept.Load(string(token))
	if !ok {
		return dst, skeleton.ErrUnauthentic
	}
	return s.Scheme.Verify(dst, kept.([]byte), c)
}

// ringOfLast makes all handles use the ring that was opened last.
func ringOfLast(p *skeleton.SignerParts) {
	var mu sync.Mutex
	var last *skeleton.Ring
	check, derive, found := p.Check, p.Derive, p.Lookup
	p.Check = func(secrets [][]byte) error {
		if err := check(secrets); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		last = &skeleton.Ring{}
		for _, s := range secrets {
			key, id := derive(s)
			last.Entries = append(last.Entries, &skeleton.Entry{Key: key, ID: id})
		}
		return nil
	}
	p.Lookup = func(_ *skeleton.Ring, id []byte) *skeleton.Entry {
		mu.Lock()
		defer mu.Unlock()
		return found(last, id)
	}
}

// A lenientOnce scheme verifies its first token again as of an earlier time if that is refused.
type lenientOnce struct {
	codecs.Scheme
	called atomic.Bool
}

// Verify implements codecs.Scheme.
func (s *lenientOnce) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	if s.called.Swap(true) || err == nil {
		return out, err
	}
	return s.Scheme.Verify(dst, token, skeleton.Shifted(b, -600*time.Second))
}
