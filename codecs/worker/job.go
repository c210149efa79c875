package worker

import (
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A task is an operation on an open handle, as instances of one kind do it. To
// an instance of the other kind it is codecs.ErrUnsupported.
type task struct {
	kind   codecs.Kind
	run    func(c *lab.Bound, dst, input []byte) ([]byte, error)
	inputs func(*request) (inputs [][]byte, batch bool, err error)
	result func(l *line, out []byte) *line // appends it to an answer
}

// tasks are the operations on an open handle, by name.
var tasks = map[string]*task{
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
	batch  bool // answer with verdicts
}

// answer does the job and writes the answer.
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

// repeat does the job n times.
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
