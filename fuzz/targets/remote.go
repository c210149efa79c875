package targets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/fuzz/program"
	"sealab/internal/lab"
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
	question, err := there.opened.Judge(s.Kind(), token, &home.Context, lab.Answer{Payload: here, Err: err})
	if err != nil {
		return fmt.Errorf("%s: asking about %q: %w", s.Name, token, err)
	}
	if p.Pick(16) == 1 {
		if err := requireWords(question, token, here); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
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

// requireWords returns an error unless another reader of JSON finds in the lines
// of a case the token that was asked about and the payload that it carried.
func requireWords(c worker.Case, token, payload []byte) error {
	var ask struct {
		Token string `json:"token"`
	}
	var answer struct {
		State   string `json:"state_b64"`
		Payload string `json:"payload_b64"`
	}
	if err := errors.Join(json.Unmarshal(c.Ask, &ask), json.Unmarshal(c.Answer, &answer)); err != nil {
		return fmt.Errorf("%s and %s: %w", c.Ask, c.Answer, err)
	}
	carried := base64.RawURLEncoding.EncodeToString(payload)
	if ask.Token != string(token) || answer.State+answer.Payload != carried {
		return fmt.Errorf("%s and %s are not about %q, which carried %q", c.Ask, c.Answer, token, carried)
	}
	if bytes.ContainsAny(c.Ask, "\r\n") || bytes.ContainsAny(c.Answer, "\r\n") {
		return fmt.Errorf("%q or %q is more than a line", c.Ask, c.Answer)
	}
	return nil
}
