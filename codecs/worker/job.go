package worker

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A task is an operation on an open handle of one kind. On a handle of the
// other kind it is codecs.ErrUnsupported.
type task struct {
	kind   codecs.Kind
	run    func(c *lab.Bound, dst, input []byte) ([]byte, error)
	inputs func(*request) (inputs [][]byte, batch bool, err error)
	result func(l *line, out []byte) *line // appends the result to an answer
}

// tasksByName are the operations on an open handle, by name.
var tasksByName = map[string]*task{
	"seal":   {codecs.KindCodec, (*lab.Bound).Seal, payloadToSeal, (*line).token},
	"mint":   {codecs.KindScheme, (*lab.Bound).Seal, stateToSeal, (*line).token},
	"unseal": {codecs.KindCodec, (*lab.Bound).Unseal, tokensToJudge, (*line).payload},
	"verify": {codecs.KindScheme, (*lab.Bound).Unseal, tokensToJudge, (*line).state},
}

func payloadToSeal(r *request) ([][]byte, bool, error) { return toSeal(r.Payload, "payload_b64") }
func stateToSeal(r *request) ([][]byte, bool, error)   { return toSeal(r.State, "state_b64") }

func toSeal(input []byte, member string) (inputs [][]byte, batch bool, err error) {
	if input == nil {
		return nil, false, fmt.Errorf("%s is missing", member)
	}
	return [][]byte{input}, false, nil
}

func tokensToJudge(r *request) (inputs [][]byte, batch bool, err error) {
	switch {
	case r.Tokens != nil:
		return r.Tokens, true, nil
	case r.Token != nil:
		return [][]byte{r.Token}, false, nil
	default:
		return nil, false, fmt.Errorf("token is missing")
	}
}

// A job is a task with its arguments, ready to run.
type job struct {
	*task
	codec  *lab.Bound
	inputs [][]byte
	batch  bool // answer with a list of verdicts
}

// answer runs the job and writes the answer.
func (j *job) answer(l *line) {
	if !j.batch {
		j.one(l, j.inputs[0])
		return
	}
	l.done().array("verdicts", len(j.inputs), func(i int) {
		l.element(func() { j.one(l, j.inputs[i]) })
	})
}

func (j *job) one(l *line, input []byte) {
	out, err := j.run(j.codec, nil, input)
	if err != nil {
		l.failed(err)
		return
	}
	j.result(l.done(), out)
}

// repeat runs the job n times.
func (j *job) repeat(n int64) error {
	var out []byte
	for range n {
		for _, input := range j.inputs {
			var err error
			if out, err = j.run(j.codec, out[:0], input); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Benchmark times operations inside the worker, without the cost of the pipe.
// Each method runs its operation n times and returns the elapsed time. Without
// the ability bench it returns codecs.ErrUnsupported.
type Benchmark interface {
	// BenchMake makes n tokens: a scheme mints in context b, a codec seals.
	BenchMake(n int, state []byte, b *codecs.Context) (time.Duration, error)
	// BenchJudge verifies or unseals token n times. A refusal is an error.
	BenchJudge(n int, token []byte, b *codecs.Context) (time.Duration, error)
}

// BenchMake implements Benchmark. A codec ignores the context.
func (h *handle) BenchMake(n int, content []byte, b *codecs.Context) (time.Duration, error) {
	return h.bench(h.make, n, func(l *line) { h.toMake(l, content, b) })
}

// BenchJudge implements Benchmark. A codec ignores the context.
func (h *handle) BenchJudge(n int, token []byte, b *codecs.Context) (time.Duration, error) {
	return h.bench(h.judge, n, func(l *line) { h.toJudge(l, token, b) })
}

func (h *handle) bench(do string, n int, complete func(*line)) (time.Duration, error) {
	if !h.client.Has(AbilityBench) {
		return 0, codecs.ErrUnsupported
	}
	r, err := h.ask("bench", 0, func(l *line) {
		complete(l.text("do", do).int("n", int64(n)))
	}, func(r *response) error {
		if r.Elapsed == nil {
			return newBreach(Garbage, "bench: the answer has no elapsed_ns")
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return time.Duration(*r.Elapsed), nil
}
