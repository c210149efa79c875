// Package differential compares two implementations of one token design, live:
// one in this process and a peer, in general another program behind a worker.
//
// A round draws a configuration, a context and a state from the seed. Both sides
// mint. What they minted is presented to both: as it is, with its text altered,
// in other contexts and at other times, and under other rings; so is what this
// side assembles with its insides rewritten and authenticated again, where it
// can. The verdicts are compared first, then stage and reason, then the state;
// refusals are compared like acceptances, so that a forgery which only one side
// accepts is seen.
//
// Tokens are what the worker protocol carries: UTF-8 and lone surrogates. Other
// bytes cannot be in a JSON string, and so in no message of the Model Context
// Protocol.
//
// A disagreement is a line of the verdict format ([Disagreement.Line]) that
// sealab check replays against this side.
//
// The seed draws everything but the nonces of minted tokens, which each side
// draws as it always does; the line of a disagreement holds the token itself.
//
// It does not say which side is wrong, and does not compare tokens: two sides
// that agree on all verdicts may spell the same claims in different ways.
package differential

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Tally counts what a run has compared.
type Tally struct {
	Tokens      int // presentations that both sides judged
	Accepted    int // of them by both
	Refused     map[codecs.Stage]int
	Unsupported int // that neither side can judge
	Rounds      int // in which both sides minted
	Disagreed   int
}

// A Run is one comparison.
type Run struct {
	Here, There codecs.Design
	Seed        uint64
	Count       int // of tokens to present, at least

	// Found is called with each disagreement. Its error ends the run.
	Found func(Disagreement) error
}

// stride is how many rounds without a single token end a run: the sides do not
// take one common configuration.
const stride = 100

// Do runs the comparison. Sides that have not one token in common are an error.
func (run Run) Do() (Tally, error) {
	tally := Tally{Refused: make(map[codecs.Stage]int)}
	for i := uint64(0); tally.Tokens < run.Count; i++ {
		r := &round{
			Run: &run, Rand: rand.New(rand.NewPCG(run.Seed, i)),
			tally: &tally, index: i,
		}
		if err := r.play(); err != nil {
			return tally, fmt.Errorf("seed %d, round %d: %w", run.Seed, i, err)
		}
		if i >= stride && tally.Tokens == 0 {
			return tally, fmt.Errorf("sealab: %s and %s had no token in common in %d rounds", run.Here.Name, run.There.Name, i)
		}
	}
	if tally.Accepted == 0 {
		return tally, fmt.Errorf("sealab: %s and %s accepted none of %d tokens: there is nothing to conclude from that",
			run.Here.Name, run.There.Name, tally.Tokens)
	}
	return tally, nil
}

// A round is one configuration, with all that is tried on it.
type round struct {
	*Run
	*rand.Rand
	tally *Tally
	index uint64

	config      codecs.Config
	here, there side
}

// The numbers of tokens of each sort that a round tries.
const (
	altered  = 48
	rewrites = 24
	contexts = 12
)

func (r *round) play() error {
	r.config = r.drawConfig()
	opened, err := r.open()
	if err != nil || !opened {
		return err
	}
	defer r.close()
	c, state := r.drawContext(), r.drawState()
	minted, err := r.mint(c, state)
	if err != nil || len(minted) == 0 {
		return err
	}
	present := func(note string, c context, tokens [][]byte) {
		if err == nil {
			err = r.present(note, c, tokens)
		}
	}
	present("as minted", c, minted)
	present("altered", c, r.alterAll(minted, altered))
	present("rewritten", c, r.rewriteAll(c, state, rewrites))
	for range contexts {
		note, other := r.change(c)
		present(note, other, minted)
	}
	if err != nil {
		return err
	}
	return r.underOtherRings(c, minted)
}

// open opens both sides. It reports false where one refuses the configuration;
// that only one does is a disagreement.
func (r *round) open() (bool, error) {
	var errHere, errThere error
	r.here, errHere = openSide(r.Here, r.config)
	r.there, errThere = openSide(r.There, r.config)
	if err := errors.Join(errHere, errThere); errors.Is(err, codecs.ErrFault) {
		return false, err
	}
	if (errHere == nil) != (errThere == nil) {
		r.close()
		return false, r.disagree(Disagreement{Note: "only one side takes the configuration", question: opened,
			Here: lab.Answer{Err: errHere}, There: lab.Answer{Err: errThere}})
	}
	return errHere == nil, nil
}

func (r *round) close() {
	r.here.close()
	r.there.close()
}

// mint returns the token of each side. That only one side can mint is a
// disagreement, and ends the round as it would if neither could.
func (r *round) mint(c context, state []byte) ([][]byte, error) {
	var tokens [2][]byte
	var errs [2]error
	for i, s := range []side{r.here, r.there} {
		tokens[i], errs[i] = s.At(&c).Seal(nil, state)
		if errs[i] != nil && !errors.Is(errs[i], codecs.ErrUnsupported) {
			return nil, fmt.Errorf("%s: minting: %w", s.name, errs[i])
		}
	}
	if (errs[0] == nil) != (errs[1] == nil) {
		return nil, r.disagree(Disagreement{Note: "only one side mints", question: minted, Context: c, State: state,
			Here: lab.Answer{Err: errs[0]}, There: lab.Answer{Err: errs[1]}})
	}
	if errs[0] != nil {
		return nil, nil
	}
	r.tally.Rounds++
	return tokens[:], nil
}

// underOtherRings presents the tokens to other rings.
func (r *round) underOtherRings(c context, tokens [][]byte) error {
	for _, ring := range r.otherRings() {
		other := *r
		other.config.Secrets = ring.secrets
		opened, err := other.open()
		if err != nil || !opened {
			return err
		}
		err = other.present(ring.note, c, tokens)
		other.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// String gives the counts in one line.
func (t Tally) String() string {
	s := fmt.Sprintf("%d tokens, %d disagreements; %d rounds; accepted %d", t.Tokens, t.Disagreed, t.Rounds, t.Accepted)
	for _, stage := range codecs.Stages() {
		s += fmt.Sprintf(", %s %d", stage, t.Refused[stage])
	}
	return s
}
