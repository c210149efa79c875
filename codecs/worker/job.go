package worker

import (
	"fmt"

	"sealab/codecs"
)

// An instance is what an open handle stands for. Exactly one field is set.
type instance struct {
	codec  codecs.Codec
	scheme codecs.Scheme
}

func open(d *codecs.Design, c codecs.Config) (i instance, err error) {
	if d.IsScheme() {
		i.scheme, err = d.OpenScheme(c)
	} else {
		i.codec, err = d.OpenCodec(c)
	}
	return i, err
}

// in returns the instance as a codec: a scheme in the context of the request.
func (i instance) in(r *request) (codecs.Codec, error) {
	if i.scheme == nil {
		return i.codec, nil
	}
	b, now, err := r.context()
	return codecs.Bound{Scheme: i.scheme, Binding: b, Now: now}, err
}

// A task is an operation on an open handle, as instances of one kind do it. To
// an instance of the other kind it is codecs.ErrUnsupported.
type task struct {
	kind   codecs.Kind
	run    func(c codecs.Codec, dst, input []byte) ([]byte, error)
	inputs func(*request) (inputs [][]byte, batch bool, err error)
	result func(l *line, out []byte) *line // appends it to an answer
}

// tasks are the operations on an open handle, by name.
var tasks = map[string]*task{
	"seal":   {codecs.KindCodec, codecs.Codec.Seal, payloadToSeal, (*line).token},
	"mint":   {codecs.KindScheme, codecs.Codec.Seal, stateToSeal, (*line).token},
	"unseal": {codecs.KindCodec, codecs.Codec.Unseal, tokensToJudge, (*line).payload},
	"verify": {codecs.KindScheme, codecs.Codec.Unseal, tokensToJudge, (*line).state},
}

func payloadToSeal(r *request) ([][]byte, bool, error) { return toSeal(r.Payload, "payload_b64") }
func stateToSeal(r *request) ([][]byte, bool, error)   { return toSeal(r.State, "state_b64") }

func toSeal(input []byte, member string) (inputs [][]byte, batch bool, err error) {
	if input == nil {
		return nil, false, fmt.Errorf("sealab: %s is missing", member)
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
		return nil, false, fmt.Errorf("sealab: token is missing")
	}
}

// A job is a task with its arguments, ready to run.
type job struct {
	*task
	codec  codecs.Codec
	inputs [][]byte
	batch  bool // answer with verdicts
}

// answer does the job and answers with what came of it.
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
