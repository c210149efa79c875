package worker

import (
	"time"

	"sealab/codecs"
)

// A Benchmark times operations inside the worker, so that no pipe disturbs. Each
// method does its operation n times and returns the time that passed. It is
// codecs.ErrUnsupported if the worker lacks the ability bench.
type Benchmark interface {
	// BenchMake makes n tokens: it mints for b at now, or, as a codec, seals.
	BenchMake(n int, state []byte, b *codecs.Context) (time.Duration, error)
	// BenchJudge verifies or unseals token n times. A refusal is an error.
	BenchJudge(n int, token []byte, b *codecs.Context) (time.Duration, error)
}

// BenchMake implements Benchmark.
func (s scheme) BenchMake(n int, state []byte, b *codecs.Context) (time.Duration, error) {
	return s.bench("mint", n, func(l *line) {
		within(b)(l)
		l.state(state)
	})
}

// BenchJudge implements Benchmark.
func (s scheme) BenchJudge(n int, token []byte, b *codecs.Context) (time.Duration, error) {
	return s.bench("verify", n, func(l *line) {
		within(b)(l)
		l.token(token)
	})
}

// BenchMake implements Benchmark. The binding and the time have no effect.
func (c codec) BenchMake(n int, payload []byte, _ *codecs.Context) (time.Duration, error) {
	return c.bench("seal", n, func(l *line) { l.payload(payload) })
}

// BenchJudge implements Benchmark. The binding and the time have no effect.
func (c codec) BenchJudge(n int, token []byte, _ *codecs.Context) (time.Duration, error) {
	return c.bench("unseal", n, func(l *line) { l.token(token) })
}

func (h *handle) bench(do string, n int, complete func(*line)) (time.Duration, error) {
	if !h.client.Has(AbilityBench) {
		return 0, codecs.ErrUnsupported
	}
	r, err := h.ask("bench", 0, func(l *line) {
		complete(l.text("do", do).int("n", int64(n)))
	}, func(r *response) error {
		if r.Elapsed == nil {
			return breached(Garbage, "bench: the answer has no elapsed_ns")
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return time.Duration(*r.Elapsed), nil
}
