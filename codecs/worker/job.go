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

// A job is an operation with its arguments, ready to run.
type job struct {
	run    func(dst, input []byte) ([]byte, error)
	inputs [][]byte
	batch  bool   // answer with verdicts
	member string // what a result is called in an answer
}

// jobs are the operations on an open handle, by name. What the instance cannot
// do is codecs.ErrUnsupported.
var jobs = map[string]func(instance, *request) (*job, error){
	"seal": instance.seal, "unseal": instance.unseal,
	"mint": instance.mint, "verify": instance.verify,
}

func (i instance) seal(r *request) (*job, error) {
	if i.codec == nil {
		return nil, codecs.ErrUnsupported
	}
	return making(r.Payload, "payload_b64", i.codec.Seal)
}

func (i instance) mint(r *request) (*job, error) {
	if i.scheme == nil {
		return nil, codecs.ErrUnsupported
	}
	b, now, err := r.context()
	if err != nil {
		return nil, err
	}
	return making(r.State, "state_b64", func(dst, state []byte) ([]byte, error) {
		return i.scheme.Mint(dst, state, b, now)
	})
}

// making returns the job that makes a token of what the request has in member.
func making(input *octets, member string, run func(dst, input []byte) ([]byte, error)) (*job, error) {
	if input == nil {
		return nil, fmt.Errorf("sealab: %s is missing", member)
	}
	return &job{run: run, inputs: [][]byte{*input}, member: "token"}, nil
}

func (i instance) unseal(r *request) (*job, error) {
	if i.codec == nil {
		return nil, codecs.ErrUnsupported
	}
	return judging(r, "payload_b64", i.codec.Unseal)
}

func (i instance) verify(r *request) (*job, error) {
	if i.scheme == nil {
		return nil, codecs.ErrUnsupported
	}
	b, now, err := r.context()
	if err != nil {
		return nil, err
	}
	return judging(r, "state_b64", func(dst, token []byte) ([]byte, error) {
		return i.scheme.Verify(dst, token, b, now)
	})
}

// judging returns the job that judges the token or tokens of the request.
func judging(r *request, member string, run func(dst, token []byte) ([]byte, error)) (*job, error) {
	j := &job{run: run, batch: r.Tokens != nil, member: member}
	switch {
	case r.Tokens != nil:
		for _, t := range *r.Tokens {
			j.inputs = append(j.inputs, []byte(t))
		}
	case r.Token != nil:
		j.inputs = [][]byte{[]byte(*r.Token)}
	default:
		return nil, fmt.Errorf("sealab: token is missing")
	}
	return j, nil
}

// answer does the job and answers with what came of it.
func (j *job) answer() *line {
	if !j.batch {
		return j.one(j.inputs[0])
	}
	l := done()
	return l.array("verdicts", len(j.inputs), func(i int) { l.element(j.one(j.inputs[i])) })
}

func (j *job) one(input []byte) *line {
	out, err := j.run(nil, input)
	if err != nil {
		return failed(err)
	}
	if j.member == "token" {
		return done().text(j.member, string(out))
	}
	return done().bytes(j.member, out)
}

// repeat does the job n times.
func (j *job) repeat(n int) error {
	var out []byte
	for range n {
		for _, input := range j.inputs {
			var err error
			if out, err = j.run(out[:0], input); err != nil {
				return err
			}
		}
	}
	return nil
}
