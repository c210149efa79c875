package targets

import (
	"bytes"
	"encoding/base64"
	"errors"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var insideTarget = Target{
	Name: "inside", Layer: layerInside,
	Doc:   "seals step by step with steps rewritten, before and after authentication: what is not a token of the design is refused, and never worse",
	Draws: true,
	Check: runInside,
	Seeds: insideSeeds,
}

func runInside(p *program.Program) error {
	s := pickInstance(p)
	seed, payload := s.seed(p), s.payload(p)
	var rewritten stepChanges
	altered, err := s.codec.SealEdited(nil, seed, payload, func(step lab.Step, value []byte) []byte {
		return rewritten.edit(p, step, value)
	})
	if err != nil {
		return err
	}
	switch {
	case !rewritten.any:
		return s.requireSame(altered, payload)
	case rewritten.content:
		return s.requireAnswer(p.Pick(answerQuestions), altered)
	}
	got, refused, err := s.open(altered)
	if err != nil || refused != nil {
		return err
	}
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err != nil || bytes.Equal(altered, token) {
		return err
	}
	return s.gain(token, altered, payload, got)
}

// stepChanges records the changes of an edit.
type stepChanges struct {
	any     bool // at least one step changed
	content bool // a step that determines the sealed content changed
}

// The choices of edit. Choice editNone leaves a step unchanged and the next editKinds choices
// change it, so one choice in four is a change.
const (
	editNone    = 0
	editKinds   = 6
	editChoices = 4 * editKinds
)

// edit changes one step as the program chooses. Most steps stay unchanged.
func (r *stepChanges) edit(p *program.Program, step lab.Step, value []byte) []byte {
	kind := p.Pick(editChoices)
	if kind == editNone || kind > editKinds {
		return value
	}
	r.any = true
	size := len(value)
	var text []byte
	if step == lab.StepText {
		text = bytes.Clone(value)
	}
	out := changeValue(p, kind, value)
	switch step {
	case lab.StepPrefix, lab.StepAAD, lab.StepBind, lab.StepTag: // must be as they are
	case lab.StepKeyID: // another length shifts the start of the payload
		r.content = r.content || len(out) != size
	case lab.StepText: // another spelling has the same content
		r.content = r.content || !bytes.Equal(lenientlyDecoded(out), lenientlyDecoded(text))
	default: // another input, or a step that only one format has
		r.content = r.content || !step.OnWire()
	}
	return out
}

// lenientlyDecoded returns the bytes that a lenient decoder reads. It skips characters outside
// the alphabet and ignores spare bits.
func lenientlyDecoded(text []byte) []byte {
	characters := make([]byte, 0, len(text))
	for _, c := range text {
		if inAlphabet[c] {
			characters = append(characters, c)
		}
	}
	raw, _ := base64.RawURLEncoding.AppendDecode(nil, characters) // decodes up to the first error
	return raw
}

// inAlphabet marks the characters of the base64url alphabet.
var inAlphabet = func() (table [256]bool) {
	for _, c := range []byte(program.Alphabet) {
		table[c] = true
	}
	return table
}()

// changeValue makes one change of the given kind, from 1 to editKinds, to the value of
// a step.
func changeValue(p *program.Program, kind int, value []byte) []byte {
	at := 0
	if len(value) > 0 {
		at = p.Uint16() % len(value)
	}
	switch kind {
	case 1: // remove
		return nil
	case 2: // repeat
		return append(value, bytes.Clone(value)...)
	case 3: // truncate
		return value[:at]
	case 4: // change one byte
		if len(value) > 0 {
			value[at] ^= p.Byte() | 1
		}
		return value
	case 5: // insert
		return program.Insert(value, at, p.Bytes(64))
	default: // replace
		return bytes.Clone(p.Bytes(1024))
	}
}

// answerQuestions is the number of choices for requireAnswer.
const answerQuestions = 4

// requireAnswer opens a token and makes one check. Check 0 requires the same answer again.
// Check 1 requires that an accepted payload can be sealed and opened again. Other numbers check
// only that the answer is valid.
func (s *instance) requireAnswer(ask int, token []byte) error {
	first, refused, err := s.open(token)
	if err != nil {
		return err
	}
	switch ask {
	case 0:
		return s.requireRepeated(token, first, refused)
	case 1:
		if refused == nil {
			return s.requireSealable(first)
		}
	}
	return nil
}

// requireSealable returns an error unless the state of an accepted token can be sealed and
// opened.
func (s *instance) requireSealable(first []byte) error {
	again, err := s.codec.Seal(nil, first)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil // a faithful reading may accept a state that its writer refuses
	}
	if err != nil {
		return harness.Fail(s.Name, "the state of an accepted token cannot be sealed", "%v: %q", err, first)
	}
	return s.requireSame(again, first)
}

// writeStepChange writes the choices that change one step in the given way (below editKinds)
// and leave the others unchanged.
func writeStepChange(w *program.Writer, step, way int) *program.Writer {
	for range step {
		w.Byte(editNone)
	}
	kind := way + 1
	w.Byte(byte(kind)).Uint16(1)
	switch {
	case kind == 4:
		w.Byte(1) // most digits remain digits
	case kind > 4:
		w.Bytes([]byte("abc"))
	}
	return w
}

// insideSeeds returns, for every design, one change of each kind to each of its steps.
func insideSeeds() ([][]byte, error) {
	return withContinuations(seedEach(instances(), func(_ *instance, begin func() *program.Writer) (own [][]byte) {
		for step := range 10 {
			for kind := range editKinds {
				w := begin().Bytes([]byte("seed")).Bytes([]byte("payload"))
				own = append(own, writeStepChange(w, step, kind).Program())
			}
		}
		return own
	})), nil
}
