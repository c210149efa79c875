package worker

import (
	"maps"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// Design returns the worker as a row of a catalog. Its constructors open a
// handle in the worker. They return io.Closers that are also batch judges
// ([lab.BatchCodec], [lab.BatchScheme]) and, with the ability bench,
// [Benchmark]s. The row has only guarantees that the worker states and this
// package knows.
func (c *Client) Design() codecs.Design {
	name := c.Hello().Name
	d := codecs.Design{
		Name:       name,
		Doc:        "a " + string(c.hello.Kind) + " in another process, version " + c.hello.Version,
		Spec:       name + " " + c.hello.Version,
		Guarantees: codecs.Always(statedGuarantees(c.hello.Guarantees)),
	}
	for _, o := range c.hello.Options {
		d.Options = append(d.Options, codecs.Option(o))
	}
	if c.hello.Kind == codecs.KindScheme {
		d.NewScheme = func(config codecs.Config) (codecs.Scheme, error) {
			h, err := newHandle(c, config)
			return scheme{h}, err
		}
	} else {
		d.NewCodec = func(config codecs.Config) (codecs.Codec, error) {
			h, err := newHandle(c, config)
			return codec{h}, err
		}
	}
	return d
}

// statedGuarantees returns the guarantees in a hello, sorted by property.
func statedGuarantees(said map[codecs.Property]bool) []codecs.Guarantee {
	var gs []codecs.Guarantee
	for _, p := range slices.Sorted(maps.Keys(said)) {
		if _, err := codecs.ParseProperty(string(p)); err == nil {
			gs = append(gs, codecs.Guarantee{Property: p, Holds: said[p], Reason: "stated by the worker"})
		}
	}
	return gs
}

// A handle is a configuration that is open in a worker, whose processes may
// change.
type handle struct {
	kindVerbs
	client *Client
	config codecs.Config
	life   int // number of the process that id belongs to; guarded by client.mu
	id     int64
}

func newHandle(c *Client, config codecs.Config) (*handle, error) {
	h := &handle{kindVerbs: verbsOf(c.hello.Kind), client: c, config: config}
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

// reopen opens the handle in the current process if necessary. client.mu must
// be held.
func (h *handle) reopen() error {
	c := h.client
	if err := c.revive(); err != nil {
		return err
	}
	if h.life == c.life {
		return nil
	}
	l := openRequest(h.config)
	r, err := c.ask(l, 0)
	if err != nil {
		return err
	}
	if r.Handle == nil {
		return c.record(newBreach(Garbage, "open: the answer has no handle"), l.end())
	}
	h.id, h.life = *r.Handle, c.life
	return nil
}

// defaultTTL is the default time to live of an open request. Workers rely on
// every open having a ttl.
const defaultTTL = 10 * time.Minute

// openRequest returns the request that opens a configuration.
func openRequest(c codecs.Config) *line {
	l := newRequest("open")
	l.array("keys_b64", len(c.Secrets), func(i int) { l.appendBytes(c.Secrets[i]) })
	return l.duration("ttl", c.TTLOr(defaultTTL)).options(c.Options)
}

// ask sends an operation on the handle about a number of tokens. complete
// appends the other members of the request. present checks the members of the
// response. If the worker refuses, ask returns the response with the error.
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
		return r, err
	}
	return r, c.record(present(r), l.end())
}

// Close implements io.Closer. It sends no request if the process has ended.
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

// kindVerbs are the operations of codecs or schemes, and the members of their
// messages.
type kindVerbs struct {
	make, judge string
	content     func(*response) ([]byte, error) // returns the content of a judged token
	put         func(*line, []byte) *line       // appends the content of a token to make
	context     bool                            // whether requests have a context
}

var (
	codecVerbs  = kindVerbs{"seal", "unseal", payloadOf, (*line).payload, false}
	schemeVerbs = kindVerbs{"mint", "verify", stateOf, (*line).state, true}
)

func verbsOf(kind codecs.Kind) kindVerbs {
	if kind == codecs.KindScheme {
		return schemeVerbs
	}
	return codecVerbs
}

func payloadOf(r *response) ([]byte, error) { return requireMember(r.Payload, "payload_b64") }
func stateOf(r *response) ([]byte, error)   { return requireMember(r.State, "state_b64") }

func requireMember(carried []byte, name string) ([]byte, error) {
	if carried == nil {
		return nil, newBreach(Garbage, "the answer has no %s", name)
	}
	return carried, nil
}

// tokenOf returns the token in an answer.
func (v kindVerbs) tokenOf(r *response) ([]byte, error) {
	if r.Token == nil {
		return nil, newBreach(Garbage, "%s: the answer has no token", v.make)
	}
	return r.Token, nil
}

// toMake appends the members of a request to make a token.
func (v kindVerbs) toMake(l *line, content []byte, b *codecs.Context) {
	v.within(l, b)
	v.put(l, content)
}

// toJudge appends the members of a request to judge a token.
func (v kindVerbs) toJudge(l *line, token []byte, b *codecs.Context) {
	v.within(l, b)
	l.token(token)
}

// within appends the context of a request. It fails if the context has no time.
func (v kindVerbs) within(l *line, b *codecs.Context) {
	if !v.context {
		return
	}
	if err := b.Check(); err != nil {
		l.err = err
		return
	}
	l.time("now", b.Now).binding(b)
}

// obtain sends a request and appends its result to dst, or the values beside a
// refusal.
func (h *handle) obtain(dst []byte, name string, result func(*response) ([]byte, error), complete func(*line)) ([]byte, error) {
	var out []byte
	r, err := h.ask(name, 0, complete, func(r *response) (err error) {
		out, err = result(r)
		return err
	})
	if codecs.Rejected(err) != nil {
		out = r.beside()
	}
	return append(dst, out...), err
}

// makeToken makes a token in the worker and appends it to dst.
func (h *handle) makeToken(dst, content []byte, b *codecs.Context) ([]byte, error) {
	return h.obtain(dst, h.make, h.tokenOf, func(l *line) { h.toMake(l, content, b) })
}

// judgeToken judges a token in the worker and appends its content to dst.
func (h *handle) judgeToken(dst, token []byte, b *codecs.Context) ([]byte, error) {
	return h.obtain(dst, h.judge, h.content, func(l *line) { h.toJudge(l, token, b) })
}

// codec is a codecs.Codec in a worker.
type codec struct{ *handle }

// Seal implements codecs.Codec.
func (c codec) Seal(dst, payload []byte) ([]byte, error) { return c.makeToken(dst, payload, nil) }

// Unseal implements codecs.Codec.
func (c codec) Unseal(dst, token []byte) ([]byte, error) { return c.judgeToken(dst, token, nil) }

// UnsealAll implements lab.BatchCodec.
func (c codec) UnsealAll(tokens [][]byte) ([]lab.Answer, error) { return c.judgeAll(tokens, nil) }

// scheme is a codecs.Scheme in a worker.
type scheme struct{ *handle }

// Mint implements codecs.Scheme.
func (s scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	return s.makeToken(dst, state, b)
}

// Verify implements codecs.Scheme.
func (s scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	return s.judgeToken(dst, token, b)
}

// VerifyAll implements lab.BatchScheme.
func (s scheme) VerifyAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	return s.judgeAll(tokens, b)
}
