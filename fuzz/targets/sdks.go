package targets

import (
	"bytes"
	"errors"
	"sync"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var sdksTarget = Target{
	Name: "sdks", Layer: layerImplementations,
	Doc:     "designs and the installed SDKs that they mirror, many tokens in each input: the same verdict, stage and state",
	Check:   runSDKs,
	Seeds:   sdksSeeds,
	Missing: func() string { return runningSDKs().missing },
}

// A mirroredSDK is a design and the SDK that it mirrors.
type mirroredSDK struct {
	name        string
	here, there *instance
}

// mirroredSDKs holds the running SDKs, or the reason why none runs.
type mirroredSDKs struct {
	all     []mirroredSDK
	missing string
}

// runningSDKs starts every installed SDK once. Their processes end with this one.
var runningSDKs = sync.OnceValue(func() mirroredSDKs {
	here, err := program.ModuleRoot()
	if err != nil {
		return mirroredSDKs{missing: err.Error()}
	}
	found, err := sdk.Mirrors(here)
	if err != nil {
		return mirroredSDKs{missing: err.Error()}
	}
	m := mirroredSDKs{missing: "no SDK is installed: make sdks"}
	for _, p := range found {
		if p.Unavailable() != "" {
			continue
		}
		mirror, err := dialMirror(p)
		if err != nil {
			return mirroredSDKs{missing: err.Error()}
		}
		m.all, m.missing = append(m.all, mirror), ""
	}
	return m
})

func dialMirror(s sdk.SDK) (mirroredSDK, error) {
	m := mirroredSDK{name: s.Name}
	d, err := catalog.Find(s.Mirrors)
	if err != nil {
		return m, err
	}
	c := codecs.Config{Secrets: ringSecrets(d, 0)}
	if m.here, err = openDesign(d, c); err != nil {
		return m, err
	}
	client, err := s.Dial(worker.Limits{})
	if err != nil {
		return m, err
	}
	m.there = newInstance(client.Design())
	m.there.in, err = lab.Open(m.there.Design, c)
	return m, err
}

// maxBatch is the number of tokens per input. A round trip through two pipes is slow, while an
// additional token is cheap.
const maxBatch = 128

func runSDKs(p *program.Program) error {
	all := runningSDKs().all
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
		if err == nil && utf8.Valid(token) { // the protocol carries text only
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

// present returns one token, either with edited steps or with an altered text.
func (m mirroredSDK) present(p *program.Program) ([]byte, error) {
	seed, payload := m.here.seed(p), m.here.payload(p)
	var rewritten stepChanges
	inner := p.Byte()%2 == 0
	token, err := m.here.codec.SealEdited(nil, seed, payload, func(step lab.Step, value []byte) []byte {
		if !inner {
			return value
		}
		return rewritten.edit(p, step, value)
	})
	if err == nil && !inner {
		token = program.Alter(p, token)
	}
	return token, err
}

// compare returns an error unless both sides answer every token in the same way.
func (m mirroredSDK) compare(tokens [][]byte) error {
	there, err := m.there.in.UnsealAll(tokens, &program.Context)
	if err != nil {
		return harness.Fail(m.name, "an SDK fails on a batch of tokens", "%v: %q", err, tokens)
	}
	if len(there) != len(tokens) {
		return harness.Fail(m.name, "an SDK answers another number of tokens", "%d of %d", len(there), len(tokens))
	}
	for i, token := range tokens {
		state, refused, err := m.here.open(token)
		if err != nil {
			return err
		}
		refusedThere := codecs.Rejected(there[i].Err)
		if errors.Is(there[i].Err, codecs.ErrUnsupported) {
			refusedThere = errUnsupported
		}
		if there[i].Err != nil && refusedThere == nil {
			return harness.Fail(m.name, "an SDK fails on a token", "%v: %q", there[i].Err, token)
		}
		if !sameStage(refused, refusedThere) || refused == nil && !bytes.Equal(state, there[i].Payload) {
			return harness.Fail(m.name, "an SDK answers differently from its design", "design %s %q, SDK %s %q: %q", stageName(refused), state, stageName(refusedThere), there[i].Payload, token)
		}
	}
	return nil
}

// sameStage compares refusals without their reasons, which some SDKs do not report.
func sameStage(a, b *codecs.RejectError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Stage == b.Stage
}

func stageName(r *codecs.RejectError) string {
	if r == nil {
		return "accepted"
	}
	return "refused as " + r.Stage.String()
}

// sdksSeeds returns, for each SDK, batches of tokens with one edited step and with an altered
// text. They do not depend on the installed SDKs.
func sdksSeeds() ([][]byte, error) {
	const most = 16 // upper bound on the number of SDKs
	var seeds [][]byte
	for i := range byte(most) {
		var inner, outer program.Writer
		inner.Byte(i)
		outer.Byte(i)
		for step := range 8 {
			for kind := range editKinds {
				writeStepChange(inner.Bytes([]byte("seed")).Bytes([]byte("state")).Byte(0), step, kind)
				for range 8 - step {
					inner.Byte(editNone)
				}
			}
			outer.Bytes([]byte("seed")).Bytes([]byte("state")).Byte(1).Byte(byte(step)).Byte(program.Anywhere).Uint16(20).Uint16(4).Raw([]byte("v1.A"))
		}
		seeds = append(seeds, inner.Program(), outer.Program())
	}
	return seeds, nil
}
