package injected

import (
	"bytes"
	"sync"

	"sealab/codecs"
	"sealab/internal/lab"
)

// inject returns d with the bug b. The wrapper seals only step by step, so that both ways of sealing share
// its state.
func (b Bug) inject(d codecs.Design) codecs.Design {
	sound := d
	hooks := lab.HooksOf(d)
	hooks.Codec, hooks.Scheme = nil, nil
	d.Hooks = &hooks
	if sound.NewCodec != nil {
		d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
			w, err := b.wrap(sound, c)
			return codec{w}, err
		}
	}
	if sound.NewScheme != nil {
		d.NewScheme = func(c codecs.Config) (codecs.Scheme, error) {
			w, err := b.wrap(sound, c)
			return scheme{w}, err
		}
	}
	return d
}

// A wrapper is a sound instance with a bug added.
type wrapper struct {
	Bug
	sound *lab.Instance
	tried func(token []byte) (*lab.Instance, error) // the instance for a token; nil if it is always sound

	mu     sync.Mutex
	sealed []byte            // the last sealed token
	cache  map[string][]byte // the payload of the last cached token
}

func (b Bug) wrap(sound codecs.Design, c codecs.Config) (*wrapper, error) {
	in, err := lab.Open(sound, c)
	if err != nil {
		return nil, err
	}
	w := &wrapper{Bug: b, sound: in}
	if b.ring != nil {
		w.tried = func(token []byte) (*lab.Instance, error) {
			fewer := c
			if fewer.Secrets = b.ring(token, c.Secrets); len(fewer.Secrets) == len(c.Secrets) {
				return in, nil
			}
			return lab.Open(sound, fewer)
		}
	}
	return w, nil
}

func (w *wrapper) seed() int { return w.sound.SeedSize() }

// at returns the context as the bug changes it.
func (w *wrapper) at(c *codecs.Context) *codecs.Context {
	if c == nil || w.context == nil {
		return c
	}
	changed := *c
	w.context(&changed)
	return &changed
}

func (w *wrapper) payload(p []byte) []byte {
	if w.carried == nil {
		return p
	}
	return w.carried(p)
}

func (w *wrapper) seal(dst, payload []byte, c *codecs.Context) ([]byte, error) {
	out, err := w.sound.Seal(dst, w.payload(payload), w.at(c))
	return w.remember(dst, out, err)
}

func (w *wrapper) sealSeeded(dst, seed, payload []byte, c *codecs.Context) ([]byte, error) {
	out, err := w.sound.SealSeeded(dst, seed, w.payload(payload), w.at(c))
	return w.remember(dst, out, err)
}

func (w *wrapper) sealEdited(dst, seed, payload []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	return w.sound.SealEdited(dst, seed, w.payload(payload), w.at(c), edit)
}

// remember stores the token that was appended to dst.
func (w *wrapper) remember(dst, out []byte, err error) ([]byte, error) {
	if err == nil && w.takes != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sealed = append(w.sealed[:0], out[len(dst):]...)
	}
	return out, err
}

func (w *wrapper) unseal(dst, token []byte, c *codecs.Context) ([]byte, error) {
	c = w.at(c)
	if c != nil && w.clock != nil {
		changed := *c
		w.clock(&changed)
		c = &changed
	}
	open := func(dst, token []byte) ([]byte, error) { return w.sound.Unseal(dst, token, c) }
	switch {
	case w.tried != nil:
		in, err := w.tried(token)
		if err != nil {
			return dst, err
		}
		return in.Unseal(dst, token, c)
	case w.opening != nil:
		return w.opening(open, dst, token)
	case w.cached != nil:
		return w.recall(open, dst, token)
	}
	out, err := open(dst, w.instead(token))
	if err != nil || w.carried == nil {
		return out, err
	}
	return append(out[:len(dst)], w.carried(out[len(dst):])...), nil
}

// instead returns the last sealed token if the bug accepts token as that, and otherwise token.
func (w *wrapper) instead(token []byte) []byte {
	if w.takes == nil {
		return token
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sealed) > 0 && w.takes(token, w.sealed) {
		return bytes.Clone(w.sealed)
	}
	return token
}

// recall answers from the cache, which has one entry, or else opens the token.
func (w *wrapper) recall(open opener, dst, token []byte) ([]byte, error) {
	key, ok := w.cached(token)
	if !ok {
		return open(dst, token)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if payload, hit := w.cache[key]; hit {
		return append(dst, payload...), nil
	}
	out, err := open(dst, token)
	if err == nil {
		w.cache = map[string][]byte{key: bytes.Clone(out[len(dst):])}
	}
	return out, err
}

// A codec presents a wrapper as a lab.Assembler.
type codec struct{ w *wrapper }

func (c codec) SeedSize() int                            { return c.w.seed() }
func (c codec) Seal(dst, payload []byte) ([]byte, error) { return c.w.seal(dst, payload, nil) }
func (c codec) Unseal(dst, token []byte) ([]byte, error) { return c.w.unseal(dst, token, nil) }

func (c codec) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return c.w.sealSeeded(dst, seed, payload, nil)
}

func (c codec) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	return c.w.sealEdited(dst, seed, payload, nil, edit)
}

// A scheme presents a wrapper as a lab.SchemeAssembler.
type scheme struct{ w *wrapper }

func (s scheme) SeedSize() int { return s.w.seed() }

func (s scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return s.w.seal(dst, state, c)
}

func (s scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	return s.w.unseal(dst, token, c)
}

func (s scheme) MintSeeded(dst, seed, state []byte, c *codecs.Context) ([]byte, error) {
	return s.w.sealSeeded(dst, seed, state, c)
}

func (s scheme) MintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	return s.w.sealEdited(dst, seed, state, c, edit)
}
