package attacks_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

var load = flag.Bool("load", false, "attack every design under load, with every attack")

// A busy design simulates a worker on a machine under load. It forgets its tokens when its
// process is restarted.
type busy struct {
	// hangs reports whether a call gets no answer. It gets the number of the call in the life
	// of the process, and the token or state. stalls returns the delay of an answer.
	hangs  func(call int, in []byte) bool
	stalls func() time.Duration
	work   func(in []byte) time.Duration
	mute   bool // the machine does not report how long a process worked

	mu             sync.Mutex
	calls, lives   int
	breaches       []string
	kept           map[string]bool
	passed, worked time.Duration
}

func linear(in []byte) time.Duration {
	return time.Microsecond + time.Duration(len(in))*10*time.Nanosecond
}

func (b *busy) restart() error {
	b.calls, b.worked, b.kept = 0, 0, map[string]bool{}
	b.lives++
	return nil
}

// call makes a call unless it hangs.
func (b *busy) call(in []byte, do func() ([]byte, error)) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	b.worked += b.work(in)
	b.passed += b.work(in) + b.stalls()
	if !b.hangs(b.calls, in) {
		return do()
	}
	b.breaches = append(b.breaches, fmt.Sprintf("%s: it did not answer before the deadline (%d)", worker.Hung, len(b.breaches)))
	b.restart() //nolint:errcheck // it does not fail
	return nil, fmt.Errorf("%w: late", codecs.ErrFault)
}

func (b *busy) seal(state []byte, do func() ([]byte, error)) ([]byte, error) {
	return b.call(state, func() ([]byte, error) {
		out, err := do()
		b.kept[string(out)] = true
		return out, err
	})
}

func (b *busy) open(token []byte, do func() ([]byte, error)) ([]byte, error) {
	return b.call(token, func() ([]byte, error) {
		if out, err := do(); b.kept[string(token)] || err != nil {
			return out, err
		}
		return nil, codecs.Reject(codecs.Unauthentic, "forgotten")
	})
}

type busyCodec struct {
	*busy
	codecs.Codec
}

func (c busyCodec) Seal(dst, payload []byte) ([]byte, error) {
	return c.seal(payload, func() ([]byte, error) { return c.Codec.Seal(dst, payload) })
}

func (c busyCodec) Unseal(dst, token []byte) ([]byte, error) {
	return c.open(token, func() ([]byte, error) { return c.Codec.Unseal(dst, token) })
}

type busyScheme struct {
	*busy
	codecs.Scheme
}

func (s busyScheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return s.seal(state, func() ([]byte, error) { return s.Scheme.Mint(dst, state, c) })
}

func (s busyScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	return s.open(token, func() ([]byte, error) { return s.Scheme.Verify(dst, token, c) })
}

// design returns d as a worker on the machine, with a budget that reads its clock.
func (b *busy) design(d codecs.Design) (*attack.Design, attack.Budget) {
	b.restart() //nolint:errcheck // it does not fail
	of := codecs.Design{Name: d.Name, Prefix: d.Prefix, Options: d.Options, MaxKeys: d.MaxKeys, KeySize: d.KeySize, Guarantees: d.Guarantees}
	if d.NewScheme != nil {
		of.NewScheme = func(c codecs.Config) (codecs.Scheme, error) {
			s, err := d.NewScheme(c)
			return busyScheme{b, s}, err
		}
	} else {
		of.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
			s, err := d.NewCodec(c)
			return busyCodec{b, s}, err
		}
	}
	s := &attack.Design{Design: of, Worker: []string{"worker"}, Restart: b.restart, Misbehavior: func() []string { return b.breaches },
		Work: func() (time.Duration, error) {
			if b.mute {
				return 0, codecs.ErrUnsupported
			}
			return b.worked, nil
		}}
	budget := brief()
	budget.Stopwatch = func() time.Duration { return b.passed }
	return s, budget
}

func never(int, []byte) bool { return false }

// TestLoadAccusesNoDesign attacks sound designs that stall at random, both longer and shorter
// than the deadline of a request.
func TestLoadAccusesNoDesign(t *testing.T) {
	late := 0
	beside, _ := ids(t)
	for i, d := range catalog.Variants() {
		chosen := append(share(beside, i, 12), "RES")
		if *load {
			chosen = nil // all attacks
		} else if i%16 != 0 || testenv.Sample() && i%32 != 0 || testing.Short() && i%64 != 0 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		b := &busy{work: linear, mute: i%2 == 0,
			hangs: func(int, []byte) bool { return r.IntN(1500) == 0 },
			stalls: func() time.Duration {
				if r.IntN(4) > 0 {
					return 0
				}
				return time.Duration(r.Int64N(int64(300 * time.Millisecond)))
			}}
		s, budget := b.design(d)
		for _, got := range runAttacks(t, s, seed, budget, chosen...).Results {
			require.False(t, got.Accuses(), "%s: %s refutes %s: %s", d.Name, got.Attack, got.Property, got.Issue)
		}
		late += len(b.breaches)
	}
	require.Positive(t, late, "no answer was late")
}

// TestHangsAreFound attacks designs that hang, at one kind of text or at one call in the life
// of a process. Load must not hide the hang.
func TestHangsAreFound(t *testing.T) {
	d := catalog.Variants()[0]
	for name, row := range map[string]struct {
		hangs func(call int, in []byte) bool
		work  func(in []byte) time.Duration
		stall time.Duration
		by    string
	}{
		"a text":          {func(_ int, in []byte) bool { return bytes.HasPrefix(in, []byte("...")) }, linear, 0, "RES-02"},
		"an end":          {func(_ int, in []byte) bool { return bytes.HasSuffix(in, []byte("aa--")) }, linear, 0, "RES-02"},
		"a call":          {func(call int, _ []byte) bool { return call == 90 }, linear, 0, "RES-02"},
		"quadratic work":  {never, func(in []byte) time.Duration { return time.Duration(len(in) * len(in)) }, 0, "RES-01"},
		"and it is stuck": {never, func(in []byte) time.Duration { return time.Duration(len(in) * len(in)) }, time.Second, "RES-01"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &busy{hangs: row.hangs, work: row.work, stalls: func() time.Duration { return row.stall }}
			s, budget := b.design(d)
			budget.Bytes = 1 << 18
			require.True(t, fallsTo(runAttacks(t, s, seed, budget, row.by), row.by), "%q", b.breaches)
		})
	}
}

// TestWorkElsewhereIsNotTested attacks a design whose processes are idle while it answers.
// Either the machine is busy, or another program does the work.
func TestWorkElsewhereIsNotTested(t *testing.T) {
	b := &busy{hangs: never, work: linear, stalls: func() time.Duration { return time.Second }}
	s, budget := b.design(catalog.Variants()[0])
	for _, got := range runAttacks(t, s, seed, budget, "RES-01", "RES-09", "RES-12").Results {
		require.Equal(t, verdict.NotTested, got.Outcome, "%s", got.Attack)
		require.Contains(t, got.Reason, "busy", "%s", got.Attack)
	}
}

// fallsTo reports whether an attack refutes total.
func fallsTo(d verdict.Design, id string) bool {
	for _, r := range d.Results {
		if r.Attack == id && r.Property == codecs.Total && r.Outcome == verdict.Refuted {
			return true
		}
	}
	return false
}
