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
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var remoteTarget = Target{
	Name: "remote", Layer: layerImplementations,
	Doc:   "a design and itself behind the worker protocol: the same verdict, stage, reason and bytes",
	Draws: true,
	Check: runRemote,
	Seeds: textSeeds,
}

// runRemote asks a design about a token, and passes question and answer through the protocol.
func runRemote(p *program.Program) error {
	s := pickInstance(p)
	seed, payload := s.seed(p), s.payload(p)
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	for range p.Few(16) {
		token = program.Alter(p, token)
	}
	if !utf8.Valid(token) {
		return nil // the protocol carries text only
	}
	here, err := s.codec.Unseal(nil, token)
	there := remoteInstances()[s.Name]
	question, err := there.opened.Judge(s.Kind(), token, &program.Context, lab.Answer{Payload: here, Err: err})
	if err != nil {
		return harness.Fail(s.Name, "the worker protocol cannot ask about a token", "%v: %q", err, token)
	}
	if p.Pick(16) == 1 {
		if err := requireWords(question, token, here); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	got, agrees, err := there.Replay(question)
	if err != nil {
		return harness.Fail(s.Name, "the worker protocol cannot replay a question", "%v: %s", err, question.Ask)
	}
	if !agrees || !bytes.Equal(got.Payload, here) {
		return harness.Fail(s.Name, "the worker protocol changes the answer", "%s, then %q, %v: %q", question.Answer, got.Payload, got.Err, token)
	}
	return nil
}

// A remoteInstance is an instance behind the protocol, with the case that opened it.
type remoteInstance struct {
	opened worker.Case
	*worker.Replayer
}

// remoteInstances returns the instances behind the protocol, by design name. They stay open,
// because opening takes as long as the rest of an execution.
var remoteInstances = sync.OnceValue(func() map[string]remoteInstance {
	all := map[string]remoteInstance{}
	for _, s := range instances() {
		r, err := newRemote(s)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", s.Name, err))
		}
		all[s.Name] = r
	}
	return all
})

func newRemote(s *instance) (remoteInstance, error) {
	opened, err := worker.OpenCase(codecs.Config{Secrets: ringSecrets(s.Design, 0)}, nil)
	if err != nil {
		return remoteInstance{}, err
	}
	r, err := worker.NewReplayer(s.Design, opened.Open)
	return remoteInstance{opened, r}, err
}

// requireWords returns an error unless encoding/json reads the token and the payload from the
// lines of a case.
func requireWords(c worker.Case, token, payload []byte) error {
	var ask struct {
		Token string `json:"token"`
	}
	var answer struct {
		State   string `json:"state_b64"`
		Payload string `json:"payload_b64"`
	}
	if err := errors.Join(json.Unmarshal(c.Ask, &ask), json.Unmarshal(c.Answer, &answer)); err != nil {
		return harness.Fail("", "a line of the worker protocol is not JSON", "%v: %s and %s", err, c.Ask, c.Answer)
	}
	carried := base64.RawURLEncoding.EncodeToString(payload)
	if ask.Token != string(token) || answer.State+answer.Payload != carried {
		return harness.Fail("", "a line of the worker protocol has another token or payload", "%s and %s, want %q and %q", c.Ask, c.Answer, token, carried)
	}
	if bytes.ContainsAny(c.Ask, "\r\n") || bytes.ContainsAny(c.Answer, "\r\n") {
		return harness.Fail("", "a message of the worker protocol is more than a line", "%q or %q", c.Ask, c.Answer)
	}
	return nil
}
