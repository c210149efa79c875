package broken

import (
	"slices"
	"sync"
	"time"

	"sealab/codecs"
)

// used are the mistakes of schemes that remember the tokens they accepted.
func used() []Control {
	single := func(name, doc string, remember func(uses []use, now time.Time) []use) Control {
		return around(stating(aScheme(name, doc, breaks(codecs.SingleUse), by("EXP-05"), func(*schemeParts) {}), codecs.SingleUse),
			func(inner codecs.Scheme) codecs.Scheme {
				return &remembering{Scheme: inner, remember: remember, once: true}
			})
	}
	return []Control{
		single("short-memory", "the last 64 tokens that were used are remembered", func(uses []use, _ time.Time) []use {
			return uses[max(0, len(uses)-64):]
		}),
		single("forgets-early", "what was used is remembered for half of its time to live", func(uses []use, now time.Time) []use {
			return slices.DeleteFunc(uses, func(u use) bool { return now.Sub(u.at) > defaultTTL/2 })
		}),
		around(stating(aScheme("used-by-handle", "each handle remembers the tokens that it accepted itself", breaks(codecs.SingleUse), by("SEQ-01"), func(*schemeParts) {}), codecs.SingleUse),
			func(inner codecs.Scheme) codecs.Scheme {
				return &remembering{Scheme: inner, remember: func(uses []use, _ time.Time) []use { return uses }, once: true}
			}),
		around(aScheme("kept-alive", "a token that is used begins its time anew", breaks(codecs.Expiry), by("EXP-07"), func(*schemeParts) {}),
			func(inner codecs.Scheme) codecs.Scheme {
				return &remembering{Scheme: inner, remember: func(uses []use, now time.Time) []use {
					return slices.DeleteFunc(uses, func(u use) bool { return now.Sub(u.at) >= defaultTTL })
				}}
			}),
	}
}

// around puts a scheme inside another.
func around(c Control, wrap func(codecs.Scheme) codecs.Scheme) Control {
	open := c.NewScheme
	c.NewScheme = func(config codecs.Config) (codecs.Scheme, error) {
		inner, err := open(config)
		if err != nil {
			return nil, err
		}
		return wrap(inner), nil
	}
	return c
}

// A use is when a token was accepted, and a time at which it is good.
type use struct {
	token    string
	at, good time.Time
}

// A remembering scheme knows tokens that it accepted: it refuses those that are
// good for once, and judges others as at the time when they were good.
type remembering struct {
	codecs.Scheme
	remember func(uses []use, now time.Time) []use
	once     bool

	mu   sync.Mutex
	uses []use
}

// Verify implements codecs.Scheme.
func (s *remembering) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses = s.remember(s.uses, b.Now)
	judged := *b
	if at := slices.IndexFunc(s.uses, func(u use) bool { return u.token == string(token) }); at >= 0 {
		if s.once {
			return dst, errUnauthentic
		}
		judged.Now = s.uses[at].good
	}
	out, err := s.Scheme.Verify(dst, token, &judged)
	if err == nil {
		s.uses = append(s.uses, use{string(token), b.Now, judged.Now})
	}
	return out, err
}
