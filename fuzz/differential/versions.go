package differential

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Pairing is the result of presenting tokens of one version of a library to another version.
type Pairing struct {
	Minted, Opened string // names of the designs
	Sound          int    // unaltered tokens
	Accepted       int    // unaltered tokens that were accepted with their state
	Reason         string // the answer to the first unaltered token that was not accepted
	Altered        int    // tokens with an altered text
	Aliases        int    // altered tokens that were accepted with the minted state
	Forged         [][]byte
}

// Breaks reports whether a server that runs the version Opened refuses tokens of the version
// Minted.
func (p Pairing) Breaks() bool { return p.Accepted < p.Sound }

// versionStates are the states of the tokens that versions exchange.
var versionStates = []string{`{"step":1,"of":3}`, `"text"`, `{"é":"😀","n":[1,null,true]}`}

// perToken is the number of alterations of each token that versions exchange.
const perToken = 40

// Pair mints tokens with one design and presents them to another, unaltered and altered. The
// ring has one secret. Requests are made with and without a principal. The seed determines
// everything except nonces.
func Pair(minted, opened codecs.Design, seed uint64) (Pairing, error) {
	p := Pairing{Minted: minted.Name, Opened: opened.Name}
	r := &round{Rand: rand.New(rand.NewPCG(seed, 0))}
	secret := r.octets(codecs.MinSecret)
	here, err := lab.Open(minted, codecs.Config{Secrets: [][]byte{secret}})
	if err != nil {
		return p, fmt.Errorf("%s: %w", minted.Name, err)
	}
	defer here.Close() //nolint:errcheck // it shows in the next request
	there, err := lab.Open(opened, codecs.Config{Secrets: [][]byte{secret}})
	if err != nil {
		return p, fmt.Errorf("%s: %w", opened.Name, err)
	}
	defer there.Close() //nolint:errcheck // as above
	for _, principal := range []*string{nil, new("alice")} {
		c := codecs.Context{Now: time.Unix(1_795_132_800, 250_000_000), Method: "tools/call", Target: "deploy", Arguments: []byte(`{"env":"prod"}`), Principal: principal}
		for _, state := range versionStates {
			if err := p.exchange(r, here, there, c, []byte(state)); err != nil {
				return p, err
			}
		}
	}
	if p.Sound == 0 {
		return p, fmt.Errorf("%s minted no token", minted.Name)
	}
	return p, nil
}

// exchange mints one token, and judges it and its alterations.
func (p *Pairing) exchange(r *round, here, there *lab.Instance, c codecs.Context, state []byte) error {
	token, err := here.Seal(nil, state, &c)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: minting: %w", p.Minted, err)
	}
	tokens := append([][]byte{token}, r.alterAll([][]byte{token}, perToken)...)
	answers, err := judgeTokens(there, tokens, c)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Opened, err)
	}
	p.Sound++
	p.judge(token, state, tokens, answers)
	return nil
}

// judge counts the answers. The first answer is that for the unaltered token.
func (p *Pairing) judge(token, state []byte, tokens [][]byte, answers []lab.Answer) {
	if accepted := answers[0].Err == nil && bytes.Equal(answers[0].Payload, state); accepted {
		p.Accepted++
	} else if p.Reason == "" {
		p.Reason = formatAnswer(answers[0])
	}
	for i, a := range answers[1:] {
		altered := tokens[1+i]
		if bytes.Equal(altered, token) {
			continue
		}
		p.Altered++
		switch {
		case a.Err == nil && bytes.Equal(a.Payload, state):
			p.Aliases++
		case a.Err == nil:
			p.Forged = append(p.Forged, altered)
		}
	}
}
