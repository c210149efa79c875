package attack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// An Instance is the design opened under one ring. Its methods return no error: the outcome, a
// panic included, is in the answer.
type Instance struct {
	Keys   [][]byte
	t      *T
	ttl    *time.Duration
	opened *lab.Instance
}

// record returns the record of a call, without its answer.
func (in *Instance) record(op verdict.Op, c codecs.Context) verdict.Call {
	call := verdict.Call{Op: op, Keys: in.Keys, TTL: in.ttl}
	if in.t.Design.IsScheme() {
		call.Context = verdict.ContextOf(&c)
	}
	return call
}

// sealing returns the record of sealing state, without its answer.
func (in *Instance) sealing(state []byte, c codecs.Context) verdict.Call {
	call := in.record(verdict.OpSeal, c)
	call.State = state
	return call
}

// unsealing returns the record of presenting text, without its answer.
func (in *Instance) unsealing(text []byte, c codecs.Context) verdict.Call {
	call := in.record(verdict.OpUnseal, c)
	call.Token = text
	return call
}

// Seal seals state for c.
func (in *Instance) Seal(state []byte, c codecs.Context) verdict.Call {
	return in.Call(in.sealing(state, c), func() ([]byte, error) { return in.opened.Seal(nil, state, &c) })
}

// Unseal presents a copy of text in c.
func (in *Instance) Unseal(text []byte, c codecs.Context) verdict.Call {
	return in.UnsealInto(nil, text, c)
}

// UnsealInto presents a copy of text and passes dst as the buffer for the result.
func (in *Instance) UnsealInto(dst, text []byte, c codecs.Context) verdict.Call {
	return in.Call(in.unsealing(text, c), func() ([]byte, error) { return in.opened.Unseal(dst, bytes.Clone(text), &c) })
}

// Ask presents text itself, not a copy. The caller decides what a fault means.
func (in *Instance) Ask(text []byte, c codecs.Context) verdict.Call {
	in.t.ask(1)
	call := in.unsealing(text, c)
	call.Answer = answer(verdict.OpUnseal, func() ([]byte, error) { return in.opened.Unseal(nil, text, &c) })
	return call
}

// sealed seals state without counting the call.
func (in *Instance) sealed(state []byte, c codecs.Context) verdict.Answer {
	return answer(verdict.OpSeal, func() ([]byte, error) { return in.opened.Seal(nil, state, &c) })
}

// SealQuietly seals state. A fault does not count against the design.
func (in *Instance) SealQuietly(state []byte, c codecs.Context) verdict.Call {
	in.t.ask(1)
	said := len(in.t.Design.Breaches())
	call := in.sealing(state, c)
	call.Answer = in.sealed(state, c)
	if call.Answer.Outcome == verdict.Fault {
		in.t.Design.Excuse(said)
	}
	return call
}

// AcceptsQuietly is Accepts for a request that a design need not answer. A fault does not count
// against the design.
func (in *Instance) AcceptsQuietly(text []byte, c codecs.Context) (verdict.Call, bool) {
	said := len(in.t.Design.Breaches())
	call := in.Ask(bytes.Clone(text), c)
	if call.Answer.Outcome == verdict.Fault {
		in.t.Design.Excuse(said)
	}
	return call, call.Answer.Outcome == verdict.Done
}

// Settle decides whether a call that ended in a fault counts. The breaches from number said on
// belong to the call; do repeats it.
func (in *Instance) Settle(call verdict.Call, said int, do func() verdict.Answer) verdict.Answer {
	ordinary := Ordinary()
	return in.t.settle(call, said, do, func() verdict.Answer { return in.RoundTrip(honestState, ordinary) })
}

// RoundTrip seals state and opens the token. It counts no call, so several goroutines may call
// it.
func (in *Instance) RoundTrip(state []byte, c codecs.Context) verdict.Answer {
	sealed := in.sealed(state, c)
	if sealed.Outcome != verdict.Done {
		return sealed
	}
	return answer(verdict.OpUnseal, func() ([]byte, error) { return in.opened.Unseal(nil, sealed.Out, &c) })
}

// Accepts reports whether text is accepted in c, and the call.
func (in *Instance) Accepts(text []byte, c codecs.Context) (verdict.Call, bool) {
	call := in.Unseal(text, c)
	return call, call.Answer.Outcome == verdict.Done
}

// Call makes a call and completes its record with the answer. A fault counts against the
// design.
func (in *Instance) Call(call verdict.Call, do func() ([]byte, error)) verdict.Call {
	if in.t.Broken() {
		call.Answer = verdict.Answer{Outcome: verdict.Unsupported, Text: "not asked: too many faults"}
		return call
	}
	in.t.ask(1)
	if known, ok := in.t.Design.hungBefore(call); ok {
		call.Answer = known
		in.t.keepFault(call)
		return call
	}
	said := len(in.t.Design.Breaches())
	call.Answer = answer(call.Op, do)
	if call.Answer.Outcome == verdict.Fault {
		call.Answer = in.Settle(call, said, func() verdict.Answer { return answer(call.Op, do) })
	}
	return call
}

// answered completes the record of a call with an answer that was read with others.
func answered(call verdict.Call, a lab.Answer) verdict.Call {
	call.Answer = answer(call.Op, func() ([]byte, error) { return a.Payload, a.Err })
	return call
}

// answer runs do and returns its outcome.
func answer(op verdict.Op, do func() ([]byte, error)) (a verdict.Answer) {
	defer func() {
		if r := recover(); r != nil {
			a = verdict.Answer{Outcome: verdict.Fault, Text: fmt.Sprintf("panic: %v", r)}
		}
	}()
	out, err := do()
	if err == nil {
		return verdict.Answer{Outcome: verdict.Done, Out: out}
	}
	if r := codecs.Rejected(err); r != nil {
		return verdict.Answer{Outcome: verdict.Refused, Stage: r.Stage.String(), Reason: r.Reason, Text: err.Error(), Out: out}
	}
	if errors.Is(err, codecs.ErrUnsupported) {
		return verdict.Answer{Outcome: verdict.Unsupported}
	}
	// Sealing may fail for other reasons, for example a limit; unsealing may not. If a worker
	// broke, it is a fault in both cases.
	if op == verdict.OpSeal && !errors.Is(err, codecs.ErrFault) {
		return verdict.Answer{Outcome: verdict.Unsupported, Text: err.Error()}
	}
	return verdict.Answer{Outcome: verdict.Fault, Text: err.Error()}
}

// atOnce is the number of tokens in one batch. A design has the time of one request to answer
// the whole batch.
const atOnce = 128

// FirstAccepted returns the first of the texts that is accepted in c. It presents them in
// batches if the design judges batches.
func (in *Instance) FirstAccepted(texts [][]byte, c codecs.Context) (verdict.Call, bool) {
	for some := range slices.Chunk(texts, atOnce) {
		if answers, err := in.UnsealBatch(some, c); len(some) > 1 && err == nil {
			suspect := slices.IndexFunc(answers, func(a lab.Answer) bool { return a.Err == nil || codecs.Rejected(a.Err) == nil })
			if suspect < 0 {
				continue
			}
			some = some[suspect:]
		}
		for _, text := range some {
			if call, ok := in.Accepts(text, c); ok {
				return call, true
			}
		}
	}
	return verdict.Call{}, false
}

// UnsealBatch judges several tokens in one call if the design supports it. It splits them into
// several calls if they are long. Unless it returns an error, there is an answer for each token.
func (in *Instance) UnsealBatch(texts [][]byte, c codecs.Context) (answers []lab.Answer, err error) {
	if !in.Batched() {
		return nil, codecs.ErrUnsupported
	}
	if in.t.Broken() {
		return nil, codecs.ErrFault
	}
	in.t.ask(len(texts))
	if slices.ContainsFunc(texts, func(text []byte) bool { return in.hangsAt(text, c) }) {
		return nil, codecs.ErrFault // the caller then presents each token alone
	}
	defer func() {
		if r := recover(); r != nil {
			answers, err = nil, fmt.Errorf("panic: %v", r) // the caller then presents each token alone
		}
	}()
	for rest := texts; len(rest) > 0; {
		n := portion(rest)
		said := len(in.t.Design.Breaches())
		some, err := in.opened.UnsealBatch(rest[:n], &c)
		if errors.Is(err, codecs.ErrFault) {
			in.settleBatch(rest[:n], c, said)
		}
		if err != nil {
			return nil, err
		}
		answers, rest = append(answers, some...), rest[n:]
	}
	if len(answers) != len(texts) {
		return nil, fmt.Errorf("%d answers for %d tokens", len(answers), len(texts))
	}
	return answers, nil
}

// UnsealTogether presents texts in a batch and returns the calls, or nil if the design gives no
// answers to batches.
func (in *Instance) UnsealTogether(texts [][]byte, c codecs.Context) []verdict.Call {
	answers, err := in.UnsealBatch(texts, c)
	if err != nil {
		return nil
	}
	calls := make([]verdict.Call, len(texts))
	for i, text := range texts {
		calls[i] = answered(in.unsealing(text, c), answers[i])
	}
	return calls
}

// batchBytes bounds the total length of the tokens in one batch; a longer token is presented
// alone. A design has the time of one request for a batch, and may need 100 ns per byte.
const batchBytes = 4 << 20

// portion returns the number of leading texts that form the next batch.
func portion(texts [][]byte) int {
	n, size := 1, len(texts[0])
	for n < len(texts) && size+len(texts[n]) <= batchBytes {
		size += len(texts[n])
		n++
	}
	return n
}

// hangsAt reports whether the design is known to give no answer to text in c.
func (in *Instance) hangsAt(text []byte, c codecs.Context) bool {
	_, known := in.t.Design.hungBefore(in.unsealing(text, c))
	return known
}

// settleBatch compares a batch that ended in a fault with a batch of as many honest tokens. If
// the design is late for both, it gets no more batches.
func (in *Instance) settleBatch(texts [][]byte, c codecs.Context, said int) {
	ask := func(texts [][]byte) verdict.Answer {
		return answer(verdict.OpUnseal, func() ([]byte, error) { _, err := in.opened.UnsealBatch(texts, &c); return nil, err })
	}
	fault := verdict.Answer{Outcome: verdict.Fault}
	in.t.Design.showsAgain(fault, said, func() verdict.Answer { return ask(texts) }, func() verdict.Answer {
		sealed := in.sealed(honestState, c)
		if sealed.Outcome != verdict.Done {
			return sealed
		}
		a := ask(slices.Repeat([][]byte{sealed.Out}, len(texts)))
		in.t.Design.slow.Store(a.Outcome == verdict.Fault)
		return a
	})
}

// honestState is the state of the honest requests that are compared with suspect ones.
var honestState = []byte(`{"step":"honest"}`)

// Batched reports whether the design judges several tokens in one call, or is a worker that
// takes requests without waiting for each answer.
func (in *Instance) Batched() bool { return in.opened.Batched() && !in.t.Design.slow.Load() }

// SealAll seals each state in its own context and returns the calls. It makes no calls after a
// fault.
func (in *Instance) SealAll(states [][]byte, contexts []codecs.Context) []verdict.Call {
	calls := make([]verdict.Call, 0, len(states))
	pointers := make([]*codecs.Context, len(states))
	for i := range contexts {
		pointers[i] = &contexts[i]
	}
	var answers []lab.Answer
	if _, ok := in.opened.Opened().(lab.Sealer); ok && !in.t.Broken() {
		in.t.ask(len(states))
		answers, _ = in.opened.SealAll(states, pointers) // without answers, each state is sealed alone
	}
	for i, state := range states {
		if answers == nil {
			calls = append(calls, in.Seal(state, contexts[i]))
			continue
		}
		calls = append(calls, answered(in.sealing(state, contexts[i]), answers[i]))
	}
	return calls
}

// Close releases the handle of a design in another process. Other handles of the same ring stay
// open.
func (in *Instance) Close() error { return in.opened.Close() }

// SeedSize returns the length of a seed in bytes, or 0 if the design takes no seed.
func (in *Instance) SeedSize() int { return in.opened.SeedSize() }

// Seeded seals state under a seed and returns the record of the call.
func (in *Instance) Seeded(seed, state []byte, c codecs.Context) (verdict.Call, error) {
	in.t.ask(1)
	text, err := in.opened.SealSeeded(nil, seed, state, &c)
	call := in.sealing(state, c)
	call.Answer = verdict.Answer{Outcome: verdict.Done, Out: text}
	return call, err
}

// CanEdit reports whether the design offers sealing with edited steps.
func (in *Instance) CanEdit() bool { return in.opened.Edited() }

// Edited seals state under a seed and passes the value of every step through edit. If seed is
// nil, a random one is used.
func (in *Instance) Edited(seed, state []byte, c codecs.Context, edit lab.Edit) ([]byte, error) {
	in.t.ask(1)
	if seed == nil {
		seed = in.t.Bytes(in.SeedSize())
	}
	return in.opened.SealEdited(nil, seed, state, &c, edit)
}
