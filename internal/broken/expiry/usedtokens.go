package expiry

import (
	"slices"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// UsedTokens returns controls that remember accepted tokens wrongly.
func UsedTokens() []skeleton.Control {
	single := func(name, doc, attack string, remember func(uses []tokenUse, now time.Time) []tokenUse) skeleton.Control {
		return skeleton.WithClaim(skeleton.NewWrappedScheme(name, doc, []codecs.Property{codecs.SingleUse}, []string{attack}, func(inner codecs.Scheme) codecs.Scheme {
			return &rememberingScheme{Scheme: inner, remember: remember, once: true}
		}), codecs.SingleUse)
	}
	return []skeleton.Control{
		single("short-memory", "the last 64 tokens that were used are remembered", "SEQ-02", func(uses []tokenUse, _ time.Time) []tokenUse {
			return uses[max(0, len(uses)-64):]
		}),
		single("memory-of-1000", "the last 1000 tokens that were used are remembered", "SEQ-02", func(uses []tokenUse, _ time.Time) []tokenUse {
			return uses[max(0, len(uses)-1000):]
		}),
		single("forgets-early", "what was used is remembered for half of its time to live", "EXP-05", func(uses []tokenUse, now time.Time) []tokenUse {
			return slices.DeleteFunc(uses, func(u tokenUse) bool { return now.Sub(u.at) > skeleton.DefaultTTL/2 })
		}),
		single("forgets-expired", "what was used is forgotten when a call comes after its expiry", "EXP-05", func(uses []tokenUse, now time.Time) []tokenUse {
			return slices.DeleteFunc(uses, func(u tokenUse) bool { return now.Sub(u.at) > skeleton.DefaultTTL })
		}),
		skeleton.WithClaim(skeleton.NewWrappedScheme("forgets-at-mint", "tokens that were used five minutes ago are forgotten when another is minted", []codecs.Property{codecs.SingleUse}, []string{"EXP-05"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &pruningScheme{rememberingScheme{Scheme: inner, remember: func(uses []tokenUse, _ time.Time) []tokenUse { return uses }, once: true}}
			}), codecs.SingleUse),
		single("used-by-handle", "each handle remembers the tokens that it accepted itself", "SEQ-01", func(uses []tokenUse, _ time.Time) []tokenUse { return uses }),
		skeleton.WithClaim(skeleton.NewWrappedScheme("forgets-on-close", "all handles have one list of used tokens, which is cleared when one of them is closed",
			[]codecs.Property{codecs.SingleUse}, []string{"EXP-05"}, usesListed((*sync.Map).Clear)), codecs.SingleUse),
		usedByRing(skeleton.WithClaim(skeleton.NewScheme("used-by-ring", "used tokens are kept with the first key of the ring", []codecs.Property{codecs.SingleUse}, []string{"EXP-05"},
			func(*skeleton.SchemeParts) {}), codecs.SingleUse)),
		skeleton.WithClaim(skeleton.NewWrappedScheme("half-a-window", "tokens are numbered, and of the last 64 numbers 32 can be marked as used",
			[]codecs.Property{codecs.SingleUse}, []string{"EXP-05"}, inWindow(32)), codecs.SingleUse),
		skeleton.NewWrappedScheme("kept-alive", "a token that is used begins its time anew", []codecs.Property{codecs.Expiry}, []string{"EXP-07"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &rememberingScheme{Scheme: inner, remember: func(uses []tokenUse, now time.Time) []tokenUse {
					return slices.DeleteFunc(uses, func(u tokenUse) bool { return now.Sub(u.at) >= skeleton.DefaultTTL })
				}}
			}),
	}
}

// A tokenUse records when a token was accepted, and a time at which it is valid.
type tokenUse struct {
	token    string
	at, good time.Time
}

// A rememberingScheme remembers accepted tokens. If once is set, it refuses them; otherwise it verifies
// them as of a time when they were valid.
type rememberingScheme struct {
	codecs.Scheme
	remember func(uses []tokenUse, now time.Time) []tokenUse
	once     bool

	mu   sync.Mutex
	uses []tokenUse
}

// Verify implements codecs.Scheme.
func (s *rememberingScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses = s.remember(s.uses, b.Now)
	judged := *b
	if at := slices.IndexFunc(s.uses, func(u tokenUse) bool { return u.token == string(token) }); at >= 0 {
		if s.once {
			return dst, skeleton.ErrUnauthentic
		}
		judged.Now = s.uses[at].good
	}
	out, err := s.Scheme.Verify(dst, token, &judged)
	if err == nil {
		s.uses = append(s.uses, tokenUse{string(token), b.Now, judged.Now})
	}
	return out, err
}

// A pruningScheme forgets old uses when it mints a token.
type pruningScheme struct{ rememberingScheme }

// Mint implements codecs.Scheme.
func (p *pruningScheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	p.mu.Lock()
	p.uses = slices.DeleteFunc(p.uses, func(u tokenUse) bool { return c.Now.Sub(u.at) > 5*time.Minute })
	p.mu.Unlock()
	return p.Scheme.Mint(dst, state, c)
}

// usesListed returns a wrapper whose schemes share one list of used tokens. Closing one calls closed with
// it.
func usesListed(closed func(used *sync.Map)) func(codecs.Scheme) codecs.Scheme {
	used := new(sync.Map)
	return func(inner codecs.Scheme) codecs.Scheme {
		return closingUses{skeleton.SingleUse{Scheme: inner, Used: used, Scope: skeleton.InAnyContext}, closed}
	}
}

// usedByRing keeps used tokens by the first secret of the ring.
func usedByRing(c skeleton.Control) skeleton.Control {
	open, used := c.NewScheme, new(sync.Map)
	c.NewScheme = func(config codecs.Config) (codecs.Scheme, error) {
		inner, err := open(config)
		if err != nil {
			return inner, err
		}
		first := string(config.Secrets[0])
		return skeleton.SingleUse{Scheme: inner, Used: used, Scope: func(*codecs.Context) string { return first }}, nil
	}
	return c
}

// windowLength is the number of tokens up to the newest used one that a numberedScheme may accept.
const windowLength = 64

// A numberedScheme numbers its tokens and accepts each once, if it is among the last windowLength ones up to
// the newest used one.
type numberedScheme struct {
	codecs.Scheme
	*usedWindow
}

// A usedWindow marks the numbers of used tokens in a word of some bits.
type usedWindow struct {
	bits uint64 // those of the word

	mu      sync.Mutex
	numbers map[string]uint64 // by token
	newest  uint64            // used
	used    uint64            // bit n: newest - n
}

// inWindow returns a wrapper whose schemes have one window of words of the given number of bits.
func inWindow(bits int) func(codecs.Scheme) codecs.Scheme {
	window := &usedWindow{bits: 1<<bits - 1, numbers: map[string]uint64{}}
	return func(inner codecs.Scheme) codecs.Scheme { return numberedScheme{inner, window} }
}

// Mint implements codecs.Scheme.
func (s numberedScheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Mint(dst, state, c)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.numbers[string(out[len(dst):])] = uint64(len(s.numbers)) + 1
	}
	return out, err
}

// Verify implements codecs.Scheme.
func (s numberedScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, c)
	if err != nil {
		return out, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, known := s.numbers[string(token)]
	if n > s.newest {
		s.used, s.newest = s.used<<(n-s.newest)&s.bits, n
	}
	age := s.newest - n
	if !known || age >= windowLength || s.used>>age&1 == 1 {
		return dst, skeleton.ErrUnauthentic
	}
	s.used |= 1 << age & s.bits
	return out, nil
}

// keepUses leaves a list of used tokens as it is.
func keepUses(*sync.Map) {}

// A closingUses scheme accepts each token once, and can be closed.
type closingUses struct {
	skeleton.SingleUse
	closed func(used *sync.Map)
}

// Close implements io.Closer.
func (s closingUses) Close() error {
	s.closed(s.Used)
	return nil
}
