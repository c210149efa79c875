package differential

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// A Disagreement is a token, state or configuration that the two sides answer differently.
type Disagreement struct {
	HereName, ThereName string
	ThereVersion        string
	Note                string // seed, round, and the change to the token
	Config              codecs.Config
	Context             codecs.Context
	State               []byte // set if minting differs; there is no token then
	Token               []byte
	Here, There         lab.Answer

	kind     codecs.Kind
	question requestKind
}

// A requestKind is the kind of request that both sides get.
type requestKind uint8

const (
	judgeRequest requestKind = iota // verify a token
	openRequest                     // open a configuration
	mintRequest                     // mint a state
)

// String formats the difference as one line, without keys.
func (d Disagreement) String() string {
	return fmt.Sprintf("%s: %s: %s; %s: %s; token %q", d.Note, d.HereName, formatAnswer(d.Here), d.ThereName, formatAnswer(d.There), d.Token)
}

// formatAnswer formats an answer. Equal answers have equal texts.
func formatAnswer(v lab.Answer) string {
	switch r := codecs.Rejected(v.Err); {
	case v.Err == nil:
		return fmt.Sprintf("accepted with %q", v.Payload)
	case r != nil:
		return fmt.Sprintf("%s, %s", r.Stage, r.Reason)
	case errors.Is(v.Err, codecs.ErrUnsupported):
		return "unsupported"
	default:
		return "fault: " + v.Err.Error()
	}
}

// present presents tokens to both sides in one context and compares the answers.
func (r *round) present(kind string, c codecs.Context, tokens [][]byte) error {
	here, err := judgeTokens(r.here, tokens, c)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Here.Name, err)
	}
	there, err := judgeTokens(r.there, tokens, c)
	if err != nil {
		return fmt.Errorf("%s: %w", r.There.Name, err)
	}
	for i := range tokens {
		note := kind
		r.count(here[i], there[i])
		if answersAgree(here[i], there[i]) || r.Verdicts && agreeInVerdict(here[i], there[i]) {
			continue
		}
		if i < len(r.shapes) {
			note = fmt.Sprintf("%s %.300q", kind, r.shapes[i])
		}
		err := r.disagree(Disagreement{Note: note, Context: c, Token: tokens[i], Here: here[i], There: there[i]})
		if err != nil {
			return err
		}
	}
	return nil
}

// answersAgree reports whether two answers agree: in outcome, and then in stage and reason, or in
// state. Faults never agree.
func answersAgree(a, b lab.Answer) bool {
	ra, rb := codecs.Rejected(a.Err), codecs.Rejected(b.Err)
	switch {
	case a.Err == nil && b.Err == nil:
		return bytes.Equal(a.Payload, b.Payload)
	case ra != nil && rb != nil:
		return *ra == *rb
	default:
		return errors.Is(a.Err, codecs.ErrUnsupported) && errors.Is(b.Err, codecs.ErrUnsupported)
	}
}

// agreeInVerdict reports whether both sides refuse, or one side cannot carry the state.
func agreeInVerdict(a, b lab.Answer) bool {
	unsupported := errors.Is(a.Err, codecs.ErrUnsupported) || errors.Is(b.Err, codecs.ErrUnsupported)
	return unsupported || codecs.Rejected(a.Err) != nil && codecs.Rejected(b.Err) != nil
}

// count adds a presentation to the tally.
func (r *round) count(here, there lab.Answer) {
	ra, rb := codecs.Rejected(here.Err), codecs.Rejected(there.Err)
	switch {
	case errors.Is(here.Err, codecs.ErrUnsupported) && errors.Is(there.Err, codecs.ErrUnsupported):
		r.tally.Unsupported++
		return
	case here.Err == nil && there.Err == nil:
		r.tally.Accepted++
	case ra != nil && rb != nil && (ra.Stage == rb.Stage || r.Verdicts):
		r.tally.Refused[ra.Stage]++
	}
	r.tally.Tokens++
}

// disagree completes a disagreement and passes it on.
func (r *round) disagree(d Disagreement) error {
	r.tally.Disagreed++
	d.HereName, d.ThereName, d.ThereVersion = r.Here.Name, r.There.Name, r.There.Spec
	d.Note = fmt.Sprintf("seed %d round %d: %s", r.Seed, r.index, d.Note)
	d.Config, d.kind = r.config, r.Here.Kind()
	return r.Found(d)
}

// judgeTokens returns the answer of one side to each token. If a batch ends in a fault or is
// unsupported, judgeTokens presents its tokens one by one. A token that causes a fault then has the
// fault as its answer.
func judgeTokens(side *lab.Instance, tokens [][]byte, c codecs.Context) ([]lab.Answer, error) {
	if side.Batched() {
		verdicts, err := side.UnsealBatch(tokens, &c)
		if !errors.Is(err, codecs.ErrFault) && !errors.Is(err, codecs.ErrUnsupported) {
			return verdicts, err
		}
	}
	verdicts, codec := make([]lab.Answer, len(tokens)), side.At(&c)
	for i, token := range tokens {
		verdicts[i] = unsealSafely(codec, token)
	}
	return verdicts, nil
}

// unsealSafely judges one token. A panic becomes a fault, and thus a disagreement.
func unsealSafely(c codecs.Codec, token []byte) (v lab.Answer) {
	defer func() {
		if p := recover(); p != nil {
			v = lab.Answer{Err: fmt.Errorf("%w: panic: %v", codecs.ErrFault, p)}
		}
	}()
	v.Payload, v.Err = c.Unseal(nil, token)
	return v
}

// System is the system name of disagreements in verdict files.
const System = "sealab"

// A verdictLine is a line of a verdict file. It holds a question to a design of the catalog,
// and the answer of the other side.
type verdictLine struct {
	System string `json:"system"`
	Design string `json:"design"`
	Source string `json:"source"` // the side that answered
	Note   string `json:"note"`
	Accept bool   `json:"accept"`
	worker.Case
}

// Line returns the disagreement as a line of a verdict file, without a line break. It is one
// JSON object with the design, the other side, the question and its answer. The note holds the
// answer of this side. The line includes the keys, which derive from the seed.
func (d Disagreement) Line() ([]byte, error) {
	c, err := d.ask()
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%s; %s: %s", d.Note, d.HereName, formatAnswer(d.Here))
	return json.Marshal(verdictLine{System, d.HereName, d.ThereVersion, note, d.There.Err == nil, c})
}

func (d Disagreement) ask() (worker.Case, error) {
	if d.question == openRequest {
		return worker.OpenCase(d.Config, d.There.Err)
	}
	c, err := worker.OpenCase(d.Config, nil)
	if err != nil {
		return c, err
	}
	b := &d.Context
	if d.question == mintRequest {
		return c.Make(d.kind, d.State, b, d.There.Err)
	}
	return c.Judge(d.kind, d.Token, b, d.There)
}
