package attack

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// A Trial is one attack on one subject.
type Trial struct {
	*rand.Rand
	Subject *Subject
	Budget  Budget

	attack   *Refuter
	seed     uint64
	calls    int
	trials   map[codecs.Property]int
	refuted  map[codecs.Property]finding
	skipped  string
	noted    string
	faults   int
	firstBad *verdict.Call // the first call that came to a fault
}

// A finding is a refutation before it is put into a cell.
type finding struct {
	issue string
	calls []verdict.Call
}

func newTrial(s *Subject, r *Refuter, seed uint64, b Budget) *Trial {
	sum := sha256.Sum256(fmt.Appendf(nil, "sealab attack %d %s", seed, r.ID))
	return &Trial{
		Rand: rand.New(rand.NewChaCha8(sum)), Subject: s, Budget: b, attack: r, seed: seed,
		trials: map[codecs.Property]int{}, refuted: map[codecs.Property]finding{},
	}
}

// try counts an attempt on each property.
func (t *Trial) try(ps ...codecs.Property) {
	for _, p := range ps {
		t.trials[p]++
	}
}

// refute records that p fell. The first record of a property counts.
func (t *Trial) refute(p codecs.Property, issue string, calls ...verdict.Call) {
	if _, ok := t.refuted[p]; !ok {
		t.refuted[p] = finding{issue, calls}
	}
}

// observe records that p fell in a way that is not enough to contradict a design
// which states it: there are sound readings of the property under which it holds.
func (t *Trial) observe(p codecs.Property, issue string, calls ...verdict.Call) {
	if t.Subject.word(p) != verdict.Stated {
		t.refute(p, issue, calls...)
	}
}

// fell reports whether p has fallen in this trial.
func (t *Trial) fell(p codecs.Property) bool {
	_, ok := t.refuted[p]
	return ok
}

// skip gives the reason why what was not tried was not.
func (t *Trial) skip(format string, args ...any) { t.skipped = fmt.Sprintf(format, args...) }

// note says of what was tried how far it went.
func (t *Trial) note(format string, args ...any) { t.noted = fmt.Sprintf(format, args...) }

// fault records a call that the subject answered with neither result nor refusal.
func (t *Trial) fault(c verdict.Call) {
	t.faults++
	t.Subject.faults++
	if t.firstBad == nil {
		t.firstBad = &c
	}
}

// broken reports that the subject had too many faults to be asked again.
func (t *Trial) broken() bool {
	return t.Subject.Worker != nil && t.faults >= faultsPerAttack || t.Subject.Broken()
}

// spent reports that a long search has to end.
func (t *Trial) spent() bool {
	return t.Budget.Calls > 0 && t.calls > t.Budget.Calls || t.Budget.Spent != nil && t.Budget.Spent()
}

// Secret returns key number n of the campaign. Keys belong to the laboratory and
// protect nothing.
func (t *Trial) secret(n int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "sealab attack key %d %d", t.seed, n))
	return sum[:]
}

// party opens the subject under a ring.
func (t *Trial) party(keys ...[]byte) (*Party, error) { return t.partyFor(nil, keys...) }

// partyFor opens the subject under a ring and a time to live.
func (t *Trial) partyFor(ttl *time.Duration, keys ...[]byte) (p *Party, err error) {
	defer func() {
		if r := recover(); r != nil {
			t.fault(openCall(keys, ttl, verdict.Answer{Outcome: verdict.Fault, Text: fmt.Sprintf("panic: %v", r)}))
			err = fmt.Errorf("%w: panic", errRing)
		}
	}()
	if t.broken() {
		return nil, fmt.Errorf("%w: %w", errRing, codecs.ErrFault)
	}
	config := codecs.Config{Secrets: keys, TTL: ttl, Options: t.Subject.Options}
	p = &Party{trial: t, keys: keys, ttl: ttl}
	p.instance, err = lab.Open(t.Subject.Design, config)
	if errors.Is(err, codecs.ErrFault) {
		t.fault(openCall(keys, ttl, verdict.Answer{Outcome: verdict.Fault, Text: err.Error()}))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRing, err)
	}
	return p, nil
}

// openCall is the record of opening a ring.
func openCall(keys [][]byte, ttl *time.Duration, a verdict.Answer) verdict.Call {
	return verdict.Call{Op: verdict.OpOpen, Keys: keys, TTL: ttl, Answer: a}
}

// epoch is when attacks happen: a moment with a fraction, in no special second.
var epoch = time.Unix(1795176123, 250_000_000).UTC()

// context is the context of an ordinary request.
func context() verdict.Context {
	return verdict.Context{
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"staging","replicas":3}`),
		Principal: text("alice"), Audience: text("laboratory"), Now: epoch,
	}
}

// contexts to fall back on, for schemes that do not carry every field.
func poorer(c verdict.Context) []verdict.Context {
	return []verdict.Context{
		with(c, func(c *verdict.Context) { c.Audience = nil }),
		with(c, func(c *verdict.Context) { c.Principal = nil }),
		with(c, func(c *verdict.Context) { c.Audience, c.Principal = nil, nil }),
		with(c, func(c *verdict.Context) { c.Audience, c.Principal, c.Arguments = nil, nil, nil }),
	}
}

// base opens the subject under its first key and mints an ordinary token. It
// skips the attack where that is impossible.
func (t *Trial) base() (*Party, *Token, bool) {
	p, err := t.party(t.secret(0))
	if err != nil {
		t.skip("the subject does not open under a random secret of 32 bytes")
		return nil, nil, false
	}
	tok, ok := t.mint(p, t.state(24))
	if !ok {
		t.skip("the subject does not seal an ordinary state, or refuses its own token")
	}
	return p, tok, ok
}

// mint mints state in the richest ordinary context that the subject takes.
func (t *Trial) mint(p *Party, state []byte) (*Token, bool) {
	c := context()
	for _, c := range append([]verdict.Context{c}, poorer(c)...) {
		if tok, ok := p.mint(state, c); ok {
			return tok, true
		}
	}
	return nil, false
}

// state is a JSON text whose value is n random letters: every format can carry it.
func (t *Trial) state(n int) []byte { return fmt.Appendf(nil, `{"step":"%s"}`, t.letters(n)) }

// sweep is the numbers below n in order, or as many of them as the budget draws.
func (t *Trial) sweep(n int) []int {
	drawn := n
	if t.Budget.Sweep > 0 {
		drawn = min(n, t.Budget.Sweep)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if drawn < n {
		t.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		slices.Sort(all[:drawn])
	}
	return all[:drawn]
}

// letters are n random letters from a to z.
func (t *Trial) letters(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(t.IntN(26))
	}
	return b
}

// bytes are n random bytes.
func (t *Trial) bytes(n int) []byte {
	b := make([]byte, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], t.Uint64())
	}
	return b[:n]
}
