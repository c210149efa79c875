package differential

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/internal/lab"
)

// batchSize is the number of tokens presented in one batch.
const batchSize = 400

// playEdges presents the edges of a round: of the text of the minted tokens, of every step of a
// token of this side, and of states, contexts and times. It presents all of them, regardless of
// Run.Count.
func (r *round) playEdges(c codecs.Context, state []byte, minted [][]byte) error {
	for i, token := range minted {
		if err := r.presentAll(fmt.Sprintf("text of token %d", i), c, textEdges(token)); err != nil {
			return err
		}
	}
	if err := r.stepEdges(c, state); err != nil {
		return err
	}
	for _, d := range edgeMoments(r.moments()) {
		other := c
		other.Now = c.Now.Add(d)
		if err := r.presentAll(fmt.Sprintf("time %v", d), other, minted); err != nil {
			return err
		}
	}
	for _, s := range edgeStates {
		if err := r.exchange("a state", c, []byte(s)); err != nil {
			return err
		}
	}
	for note, other := range edgeContexts(c) {
		if err := r.exchange(note, other, state); err != nil {
			return err
		}
	}
	return nil
}

// presentAll presents tokens in portions.
func (r *round) presentAll(note string, c codecs.Context, tokens [][]byte) error {
	for i := range tokens {
		tokens[i] = protocolText(tokens[i])
	}
	shapes := r.shapes
	for some := range slices.Chunk(tokens, batchSize) {
		if err := r.present(note, c, some); err != nil {
			return err
		}
		r.shapes = r.shapes[min(batchSize, len(r.shapes)):]
	}
	r.shapes = shapes
	return nil
}

// exchange mints a state on both sides and presents both tokens to both.
func (r *round) exchange(note string, c codecs.Context, state []byte) error {
	minted, err := r.mint(c, state)
	if err != nil || len(minted) == 0 {
		return err
	}
	return r.presentAll(note, c, minted)
}

// stepEdges presents tokens of this side with every edge of every step. If the step precedes
// authentication, the token is authentic.
func (r *round) stepEdges(c codecs.Context, state []byte) error {
	if !r.here.Edited() {
		return nil
	}
	a := r.here.At(&c)
	seed := r.octets(a.SeedSize())
	steps, values, err := traceSealing(a, seed, state)
	if err != nil {
		return errors.Join(err, codecs.ErrFault)
	}
	for at, step := range steps {
		var tokens [][]byte
		r.shapes = nil
		for _, edge := range edgesOf(step, values[at], c.Now) {
			token, err := a.SealEdited(nil, seed, state, atStep(at, func(lab.Step, []byte) []byte { return bytes.Clone(edge) }))
			if err == nil && canCross(token) {
				tokens, r.shapes = append(tokens, token), append(r.shapes, edge)
			}
		}
		if err := r.presentAll("step "+string(step), c, tokens); err != nil {
			return err
		}
	}
	r.shapes = nil
	return nil
}

func edgesOf(step lab.Step, value []byte, now time.Time) [][]byte {
	switch {
	case step == lab.StepText:
		return slices.Concat(textEdges(value), compressedSegments(value))
	case len(splitMembers(value)) > 0:
		return slices.Concat(jsonEdges(value, now), unicodeEncodings(value))
	case step == lab.StepClaims || step == lab.StepPayload:
		return slices.Concat(byteEdges(value, now), asBytes(edgeStates))
	default:
		return byteEdges(value, now)
	}
}

// edgeMoments returns differences in time: whole years, and values at and around those given.
func edgeMoments(near []time.Duration) []time.Duration {
	const year = 365 * 24 * time.Hour
	all := []time.Duration{0, time.Microsecond, -time.Microsecond, year, -year, 50 * year, -50 * year, 100 * year, 200 * year}
	for _, d := range near {
		all = append(all, d, d-time.Microsecond, d+time.Microsecond, d+time.Second)
	}
	return all
}

// maxNumberLength is the length at which arguments are left out, because Python refuses to parse a
// number of that length.
const maxNumberLength = 4300

// edgeContexts yields contexts with one odd part each, with a note.
func edgeContexts(c codecs.Context) iter.Seq2[string, codecs.Context] {
	return func(yield func(string, codecs.Context) bool) {
		for _, text := range edgeTexts {
			target, principal, audience := c, c, c
			target.Target, principal.Principal, audience.Audience = text, &text, &text
			if !yield("a target", target) || !yield("a principal", principal) || !yield("an audience", audience) {
				return
			}
		}
		for _, v := range edgeValues(c.Now) {
			other := c
			other.Arguments = []byte(v)
			if len(v) < maxNumberLength && utf8.ValidString(v) && json.Valid(other.Arguments) && !yield("arguments", other) {
				return
			}
		}
		c.Principal, c.Audience, c.Arguments = nil, nil, nil
		yield("an empty context", c)
	}
}

func asBytes(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, s := range texts {
		all[i] = []byte(s)
	}
	return all
}
