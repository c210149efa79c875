package targets

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var peersTarget = Target{
	Name: "peers", Layer: LayerImplementations,
	Doc:     "designs and the installed SDKs that they mirror, many tokens in each input: the same verdict, stage and state",
	Check:   peers,
	Seeds:   peersSeeds,
	Missing: func() string { return peersRunning().missing },
}

// A mirror is a design and the implementation in another process that it mirrors.
type mirror struct {
	name        string
	here, there *subject
}

// mirrors are those that could be dialled, and why there are none.
type mirrors struct {
	all     []mirror
	missing string
}

// peersRunning dials every installed peer, once. The processes end with this one.
var peersRunning = sync.OnceValue(func() mirrors {
	here, err := moduleRoot()
	if err != nil {
		return mirrors{missing: err.Error()}
	}
	found, err := sdk.Peers(here)
	if err != nil {
		return mirrors{missing: err.Error()}
	}
	m := mirrors{missing: "no peer is installed: make peers"}
	for _, p := range found {
		if p.Unavailable() != "" {
			continue
		}
		mirror, err := dial(p)
		if err != nil {
			return mirrors{missing: err.Error()}
		}
		m.all, m.missing = append(m.all, mirror), ""
	}
	return m
})

func dial(p sdk.Peer) (mirror, error) {
	m := mirror{name: p.Name}
	d, err := catalog.Find(p.Mirrors)
	if err != nil {
		return m, err
	}
	c := codecs.Config{Secrets: secrets(d, 0)}
	if m.here, err = newSubject(d, c); err != nil {
		return m, err
	}
	client, err := p.Dial(worker.Limits{})
	if err != nil {
		return m, err
	}
	m.there = &subject{Design: client.Design()}
	m.there.scheme, err = lab.Open(m.there.Design, c)
	return m, err
}

// maxBatch is how many tokens one input presents: a journey through two pipes
// is dear, and one more token in it is not.
const maxBatch = 128

func peers(p *program.Program) error {
	all := peersRunning().all
	if len(all) == 0 {
		return nil
	}
	m := all[p.Pick(len(all))]
	var tokens [][]byte
	for range maxBatch {
		token, err := m.present(p)
		if err != nil && !errors.Is(err, codecs.ErrUnsupported) {
			return err
		}
		if err == nil && utf8.Valid(token) { // the protocol is text
			tokens = append(tokens, token)
		}
		if p.Done() {
			break
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	return m.compare(tokens)
}

// present makes one token, rewritten inside or altered as text.
func (m mirror) present(p *program.Program) ([]byte, error) {
	seed, payload := m.here.seed(p), m.here.payload(p)
	var rewritten steps
	inner := p.Byte()%2 == 0
	token, err := m.here.assembler.SealEdited(nil, seed, payload, func(step lab.Step, value []byte) []byte {
		if !inner {
			return value
		}
		return rewritten.edit(p, step, value)
	})
	if err == nil && !inner {
		token = alter(p, token)
	}
	return token, err
}

// compare returns an error unless both sides judge every token alike.
func (m mirror) compare(tokens [][]byte) error {
	there, err := m.there.scheme.UnsealAll(tokens, &home.Context)
	if err != nil {
		return fmt.Errorf("%s: judging %q: %w", m.name, tokens, err)
	}
	if len(there) != len(tokens) {
		return fmt.Errorf("%s: %d verdicts on %d tokens", m.name, len(there), len(tokens))
	}
	for i, token := range tokens {
		state, refused, err := m.here.open(token)
		if err != nil {
			return err
		}
		refusedThere := codecs.Rejected(there[i].Err)
		if errors.Is(there[i].Err, codecs.ErrUnsupported) {
			refusedThere = unsupported
		}
		if there[i].Err != nil && refusedThere == nil {
			return fmt.Errorf("%s: judging %q: %w", m.name, token, there[i].Err)
		}
		if !sameStage(refused, refusedThere) || refused == nil && !bytes.Equal(state, there[i].Payload) {
			return fmt.Errorf("%s: %q is %q, %s here and %q, %s there", m.name, token, state, stage(refused), there[i].Payload, stage(refusedThere))
		}
	}
	return nil
}

// sameStage compares refusals without their reasons, which not every SDK gives.
func sameStage(a, b *codecs.RejectError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Stage == b.Stage
}

func stage(r *codecs.RejectError) string {
	if r == nil {
		return "accepted"
	}
	return "refused as " + r.Stage.String()
}

// peersSeeds are, for each peer, batches of tokens: as they are, with one step
// rewritten, and with the text altered. They do not depend on what is installed.
func peersSeeds() ([][]byte, error) {
	const most = 16 // peers
	var seeds [][]byte
	for i := range byte(most) {
		var inner, outer program.Writer
		inner.Byte(i)
		outer.Byte(i)
		for step := range 8 {
			for kind := range reworks {
				rewrites(inner.Bytes([]byte("seed")).Bytes([]byte("state")).Byte(0), step, kind)
				for range 8 - step {
					inner.Byte(untouched)
				}
			}
			outer.Bytes([]byte("seed")).Bytes([]byte("state")).Byte(1).Byte(byte(step)).Byte(anywhere).Uint16(20).Uint16(4).Raw([]byte("v1.A"))
		}
		seeds = append(seeds, inner.Program(), outer.Program())
	}
	return seeds, nil
}
