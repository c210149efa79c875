package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/fuzz/program"
)

var remoteTarget = Target{
	Name: "remote", Layer: LayerImplementations,
	Doc:   "a design and itself behind the worker protocol: the same verdict, stage, reason and bytes",
	Draws: true,
	Check: remote,
	Seeds: textSeeds,
}

// remote asks a design about a token and then puts the question and the answer
// through the words of the protocol and back.
func remote(p *program.Program) error {
	s := pick(p)
	seed, payload := s.seed(p), s.payload(p)
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	for range p.Few(16) {
		token = alter(p, token)
	}
	if !utf8.Valid(token) {
		return nil // the protocol is text
	}
	here, err := s.codec.Unseal(nil, token)
	there := remotes()[s.Name]
	question, err := there.opened.Judge(s.Kind(), token, &home.binding, home.now, codecs.Verdict{Payload: here, Err: err})
	if err != nil {
		return fmt.Errorf("%s: asking about %q: %w", s.Name, token, err)
	}
	if p.Pick(8) == 1 {
		return s.requireWords(question)
	}
	got, agrees, err := there.Replay(question)
	if err != nil {
		return fmt.Errorf("%s: replaying %s: %w", s.Name, question.Ask, err)
	}
	if !agrees || !bytes.Equal(got.Payload, here) {
		return fmt.Errorf("%s: %q is %s here, and through the protocol %q, %v", s.Name, token, question.Answer, got.Payload, got.Err)
	}
	return nil
}

// A remoteSubject is a subject behind the protocol, and the words that open it.
type remoteSubject struct {
	opened worker.Case
	*worker.Replayer
}

// remotes are the subjects behind the protocol, by name. They stay set up: that
// takes as long as the rest of an execution.
var remotes = sync.OnceValue(func() map[string]remoteSubject {
	all := map[string]remoteSubject{}
	for _, s := range subjects() {
		r, err := newRemote(s)
		if err != nil {
			panic(fmt.Sprintf("sealab: fuzz: %s: %v", s.Name, err)) // as mustSubject
		}
		all[s.Name] = r
	}
	return all
})

func newRemote(s *subject) (remoteSubject, error) {
	opened, err := worker.OpenCase(codecs.Config{Secrets: secrets(s.Design, 0)}, nil)
	if err != nil {
		return remoteSubject{}, err
	}
	r, err := worker.NewReplayer(s.Design, opened.Open)
	return remoteSubject{opened, r}, err
}

// requireWords returns an error unless question and answer are JSON, and the
// case, complete with what opens it, can be replayed.
func (s *subject) requireWords(c worker.Case) error {
	if _, agrees, err := c.Replay(s.Design); err != nil || !agrees {
		return fmt.Errorf("%s: %s is not answered with %s: %v", s.Name, c.Ask, c.Answer, err)
	}
	for _, line := range []json.RawMessage{c.Open, c.Ask, c.Answer} {
		if !json.Valid(line) || bytes.ContainsAny(line, "\r\n") {
			return fmt.Errorf("the protocol has the line %q", line)
		}
	}
	return nil
}
