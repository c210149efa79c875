package worker

import (
	"maps"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// Design returns the worker as a row of a catalog. Its constructors open a
// handle in the worker; the values they return are io.Closers, batch judges
// ([lab.BatchCodec], [lab.BatchScheme]) and, for the ability bench,
// [Benchmark]s. A guarantee that the worker does not state, or that this
// laboratory does not know, is not in the row.
func (c *Client) Design() codecs.Design {
	name := c.Hello().Name
	d := codecs.Design{
		Name:       name,
		Doc:        "a " + string(c.hello.Kind) + " in another process, version " + c.hello.Version,
		Spec:       name + " " + c.hello.Version,
		Guarantees: codecs.Always(stated(c.hello.Guarantees)),
	}
	for _, o := range c.hello.Options {
		d.Options = append(d.Options, codecs.Option(o))
	}
	if c.hello.Kind == codecs.KindScheme {
		d.NewScheme = func(config codecs.Config) (codecs.Scheme, error) { return newScheme(c, config) }
	} else {
		d.NewCodec = func(config codecs.Config) (codecs.Codec, error) { return newCodec(c, config) }
	}
	return d
}

// stated returns the guarantees that a hello states, sorted by property.
func stated(said map[codecs.Property]bool) []codecs.Guarantee {
	var gs []codecs.Guarantee
	for _, p := range slices.Sorted(maps.Keys(said)) {
		if _, err := codecs.ParseProperty(string(p)); err == nil {
			gs = append(gs, codecs.Guarantee{Property: p, Holds: said[p], Reason: "stated by the worker"})
		}
	}
	return gs
}

// A handle is a configuration that is open in a worker, in whichever process
// that is at the moment.
type handle struct {
	client *Client
	config codecs.Config
	life   int // of the process that id belongs to; guarded by client.mu
	id     int64
}

func newHandle(c *Client, config codecs.Config) (*handle, error) {
	h := &handle{client: c, config: config}
	h.config.Options = maps.Clone(config.Options)
	h.config.Secrets = nil
	for _, s := range config.Secrets {
		h.config.Secrets = append(h.config.Secrets, slices.Clone(s))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.secrets.add(h.config.Secrets)
	return h, h.reopen()
}

// reopen makes sure that the handle is open in the process that there is now.
// client.mu is held.
func (h *handle) reopen() error {
	c := h.client
	if err := c.revive(); err != nil {
		return err
	}
	if h.life == c.life {
		return nil
	}
	l := opening(h.config)
	r, err := c.ask(l, 0)
	if err != nil {
		return err
	}
	if r.Handle == nil {
		return c.record(breached(Garbage, "open: the answer has no handle"), l.end())
	}
	h.id, h.life = *r.Handle, c.life
	return nil
}

// defaultTTL is the time to live of an open request by default:
// every open has a ttl, and workers rely on it.
const defaultTTL = 10 * time.Minute

// opening returns the request that opens a configuration.
func opening(c codecs.Config) *line {
	ttl := defaultTTL
	if c.TTL != nil {
		ttl = *c.TTL
	}
	l := operation("open")
	l.array("keys_b64", len(c.Secrets), func(i int) { l.appendBytes(c.Secrets[i]) })
	return l.duration("ttl", ttl).options(c.Options)
}

// ask sends an operation on the handle about a number of tokens. complete appends
// the other members of the request. present checks the members of the response.
func (h *handle) ask(name string, tokens int, complete func(*line), present func(*response) error) (*response, error) {
	c := h.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := h.reopen(); err != nil {
		return nil, err
	}
	l := newLine().asking(name, h.id)
	complete(l)
	r, err := c.ask(l, tokens)
	if err != nil {
		return nil, err
	}
	return r, c.record(present(r), l.end())
}

// Close implements io.Closer. It sends no request to a process that has ended.
func (h *handle) Close() error {
	c := h.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.process == nil || h.life != c.life {
		return nil
	}
	_, err := c.ask(newLine().asking("close", h.id), 0)
	return err
}

// obtain asks for one result and appends it to dst.
func (h *handle) obtain(dst []byte, name string, result member, complete func(*line)) ([]byte, error) {
	var out []byte
	_, err := h.ask(name, 0, complete, func(r *response) (err error) {
		out, err = result(r)
		return err
	})
	return append(dst, out...), err
}

// produce asks for a token and appends it to dst.
func (h *handle) produce(dst []byte, name string, complete func(*line)) ([]byte, error) {
	return h.obtain(dst, name, tokenOf(name), complete)
}

// judge requests the content of a token and appends it to dst.
func (h *handle) judge(dst []byte, name string, result member, token []byte, complete func(*line)) ([]byte, error) {
	return h.obtain(dst, name, result, func(l *line) {
		complete(l)
		l.token(token)
	})
}

// A member selects a token, or the content of one, from a response.
type member func(*response) ([]byte, error)

func tokenOf(name string) member {
	return func(r *response) ([]byte, error) {
		if r.Token == nil {
			return nil, breached(Garbage, "%s: the answer has no token", name)
		}
		return r.Token, nil
	}
}

func payloadOf(r *response) ([]byte, error) { return present(r.Payload, "payload_b64") }
func stateOf(r *response) ([]byte, error)   { return present(r.State, "state_b64") }

func present(carried []byte, name string) ([]byte, error) {
	if carried == nil {
		return nil, breached(Garbage, "the answer has no %s", name)
	}
	return carried, nil
}

// codec is a codecs.Codec in a worker.
type codec struct{ *handle }

func newCodec(c *Client, config codecs.Config) (codecs.Codec, error) {
	h, err := newHandle(c, config)
	if err != nil {
		return nil, err
	}
	return codec{h}, nil
}

func nothing(*line) {}

// Seal implements codecs.Codec.
func (c codec) Seal(dst, payload []byte) ([]byte, error) {
	return c.produce(dst, "seal", func(l *line) { l.payload(payload) })
}

// Unseal implements codecs.Codec.
func (c codec) Unseal(dst, token []byte) ([]byte, error) {
	return c.judge(dst, "unseal", payloadOf, token, nothing)
}

// UnsealAll implements lab.BatchCodec.
func (c codec) UnsealAll(tokens [][]byte) ([]lab.Answer, error) {
	return c.judgeAll("unseal", payloadOf, tokens, nothing)
}

// scheme is a codecs.Scheme in a worker.
type scheme struct{ *handle }

func newScheme(c *Client, config codecs.Config) (codecs.Scheme, error) {
	h, err := newHandle(c, config)
	if err != nil {
		return nil, err
	}
	return scheme{h}, nil
}

// within returns the function that adds a context to a request. A context
// without a time fails the request.
func within(b *codecs.Context) func(*line) {
	return func(l *line) {
		if err := b.Check(); err != nil {
			l.err = err
			return
		}
		l.time("now", b.Now).binding(b)
	}
}

// Mint implements codecs.Scheme.
func (s scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	return s.produce(dst, "mint", func(l *line) {
		within(b)(l)
		l.state(state)
	})
}

// Verify implements codecs.Scheme.
func (s scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	return s.judge(dst, "verify", stateOf, token, within(b))
}

// VerifyAll implements lab.BatchScheme.
func (s scheme) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	return s.judgeAll("verify", stateOf, tokens, within(b))
}
