// Package differential compares two implementations of one token design: one in this process,
// and another that is usually an SDK behind a worker.
//
// A round draws a configuration, a context and a state from the seed. Both sides mint. Both
// sides then judge the minted tokens: unchanged, with their text altered, in other contexts and
// at other times, and under other rings. If this side offers sealing with edited steps, they
// also judge tokens with edited steps, authenticated again. A comparison covers the outcome,
// and then the stage and reason or the state. It includes refusals, so that a forgery that only
// one side accepts is found.
//
// Tokens are texts that the worker protocol carries: UTF-8 and lone surrogates. A JSON string,
// and thus a message of the Model Context Protocol, cannot contain other bytes.
//
// Instead of altered tokens a run can present edges. These are tokens in which one part has, in
// turn, each odd spelling that parsers are known to read differently.
//
// [Disagreement.Line] returns a disagreement as a line of a verdict file, which sealab replay
// runs against this side.
//
// The seed determines everything except the nonces of minted tokens. For this reason the line
// of a disagreement contains its token.
//
// The comparison does not decide which side is wrong, and does not compare tokens: two sides
// with equal answers may encode the same claims differently.
package differential

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Tally counts the comparisons of a run.
type Tally struct {
	Tokens      int // presented to both sides
	Accepted    int // accepted by both sides
	Refused     map[codecs.Stage]int
	Unsupported int // tokens that neither side supports
	Rounds      int // rounds with a token from each side
	Disagreed   int
}

// A Run is one comparison.
type Run struct {
	Here, There codecs.Design
	Seed        uint64
	Count       int // minimum number of tokens to present

	// Verdicts compares only verdicts and states. The sides may differ in the reasons of
	// refusals and in the configurations that they refuse. A token that either side cannot
	// carry is not compared.
	Verdicts bool

	// TextKeys draws secrets of ASCII characters, for a side that takes passwords.
	TextKeys bool

	// Edges presents the edges of tokens in each round instead of random alterations.
	Edges bool

	// Found is called for each disagreement. If it returns an error, the run ends.
	Found func(Disagreement) error
}

// maxEmptyRounds is the number of rounds without a token after which a run ends, because the sides
// have no configuration in common.
const maxEmptyRounds = 100

// Do runs the comparison. It returns an error if no token was accepted by both sides.
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
		if i >= maxEmptyRounds && tally.Tokens == 0 {
			return tally, fmt.Errorf("%s and %s had no token in common in %d rounds", run.Here.Name, run.There.Name, i)
		}
	}
	if tally.Accepted == 0 {
		return tally, fmt.Errorf("%s and %s accepted 0 of %d tokens: the comparison shows nothing",
			run.Here.Name, run.There.Name, tally.Tokens)
	}
	return tally, nil
}

// A round is one configuration and all presentations under it.
type round struct {
	*Run
	*rand.Rand
	tally *Tally
	index uint64

	config      codecs.Config
	here, there *lab.Instance // nil if the side refuses the configuration
	shapes      [][]byte      // edited value of the step for each presented token, for notes
}

// The number of presentations of each kind in a round.
const (
	alteredPerRound  = 48
	rewritesPerRound = 24
	contextsPerRound = 12
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
	if r.Edges {
		if err := r.present("as minted", c, minted); err != nil {
			return err
		}
		return r.playEdges(c, state, minted)
	}
	present := func(note string, c codecs.Context, tokens [][]byte) {
		if err == nil {
			err = r.present(note, c, tokens)
		}
	}
	present("as minted", c, minted)
	present("altered", c, r.alterAll(minted, alteredPerRound))
	present("rewritten", c, r.rewriteAll(c, state, rewritesPerRound))
	for range contextsPerRound {
		note, other := r.change(c)
		present(note, other, minted)
	}
	if err != nil {
		return err
	}
	return r.underOtherRings(c, minted)
}

// open opens both sides. It returns false if either refuses the configuration. If only one
// does, that is a disagreement.
func (r *round) open() (bool, error) {
	var errHere, errThere error
	r.here, errHere = lab.Open(r.Here, r.config)
	r.there, errThere = lab.Open(r.There, r.config)
	if err := errors.Join(errHere, errThere); errors.Is(err, codecs.ErrFault) {
		return false, err
	}
	if (errHere == nil) != (errThere == nil) {
		r.close()
		if r.Verdicts {
			return false, nil
		}
		return false, r.disagree(Disagreement{Note: "only one side accepts the configuration", question: openRequest,
			Here: lab.Answer{Err: errHere}, There: lab.Answer{Err: errThere}})
	}
	return errHere == nil, nil
}

// close releases the handles of sides in other processes. The next request reports a failure.
func (r *round) close() {
	for _, side := range []*lab.Instance{r.here, r.there} {
		if side != nil {
			side.Close() //nolint:errcheck // see above
		}
	}
}

// mint returns one token of each side, or none if either cannot mint. If only one can, that is
// a disagreement.
func (r *round) mint(c codecs.Context, state []byte) ([][]byte, error) {
	var tokens [2][]byte
	var errs [2]error
	for i, side := range []*lab.Instance{r.here, r.there} {
		tokens[i], errs[i] = side.Seal(nil, state, &c)
		if errs[i] != nil && !errors.Is(errs[i], codecs.ErrUnsupported) {
			return nil, fmt.Errorf("%s: minting: %w", side.Design.Name, errs[i])
		}
	}
	if (errs[0] == nil) != (errs[1] == nil) {
		return nil, r.disagree(Disagreement{Note: "only one side mints", question: mintRequest, Context: c, State: state,
			Here: lab.Answer{Err: errs[0]}, There: lab.Answer{Err: errs[1]}})
	}
	if errs[0] != nil {
		return nil, nil
	}
	r.tally.Rounds++
	return tokens[:], nil
}

// underOtherRings presents the tokens under other rings.
func (r *round) underOtherRings(c codecs.Context, tokens [][]byte) error {
	for _, ring := range r.otherRings() {
		other := *r
		other.config.Secrets = ring.secrets
		opened, err := other.open()
		if err != nil {
			return err
		}
		if !opened {
			continue
		}
		err = other.present(ring.note, c, tokens)
		other.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// String formats the counts as one line.
func (t Tally) String() string {
	s := fmt.Sprintf("%d tokens, %d disagreements; %d rounds; accepted %d", t.Tokens, t.Disagreed, t.Rounds, t.Accepted)
	for _, stage := range codecs.Stages() {
		s += fmt.Sprintf(", %s %d", stage, t.Refused[stage])
	}
	return s
}
