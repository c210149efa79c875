package attacks_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks"
	"sealab/internal/broken"
	"sealab/internal/testenv"
)

// A bareCodec is a codec whose tokens lack the prefix. They begin with random letters, which
// sometimes look like a word.
type bareCodec struct {
	codecs.Codec
	prefix string
}

func (c bareCodec) Seal(dst, payload []byte) ([]byte, error) {
	token, err := c.Codec.Seal(nil, payload)
	if err != nil {
		return dst, err
	}
	return append(dst, token[len(c.prefix):]...), nil
}

func (c bareCodec) Unseal(dst, token []byte) ([]byte, error) {
	return c.Codec.Unseal(dst, slices.Concat([]byte(c.prefix), token))
}

// bare returns codec d without its prefix. It reports false for a scheme, or if d has no
// prefix.
func bare(d codecs.Design) (codecs.Design, bool) {
	if d.Prefix == "" || d.IsScheme() {
		return d, false
	}
	inner, prefix := d.NewCodec, d.Prefix
	d.Name, d.Prefix = d.Name+" bare", ""
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := inner(c)
		return bareCodec{codec, prefix}, err
	}
	return d, true
}

// prefixed are the controls whose flaw or tag covers the prefix, or shows in batches or closed handles,
// which bare codecs lack.
var prefixed = []string{"broken-quoted", "broken-version", "broken-other-hash", "broken-raw-secret", "broken-short-text", "broken-wiped", "broken-digit", "broken-opened-within", "broken-missing-key", "broken-missing-cipher-key", "broken-chained-blocks", "broken-one-nonce", "broken-nonce-by-closing", "broken-state-of-last", "broken-pieces-beside-refusals"}

// TestBareControlsFall attacks the controls without their prefix, with the attacks that they
// name. It leaves out attacks that need more than the interface of a codec.
func TestBareControlsFall(t *testing.T) {
	inside := map[string]bool{}
	for _, r := range attacks.All() {
		inside[r.ID] = r.Layer == attack.LayerReseal
	}
	meetings := &meetings{t: t}
	for n := range *seeds {
		for i, control := range broken.Controls() {
			if testenv.Sample() && i%48 != 0 {
				continue
			}
			d, ok := bare(control.Design)
			if !ok || slices.Contains(prefixed, control.Name) {
				continue
			}
			ids := slices.DeleteFunc(slices.Clone(control.Attacks), func(id string) bool { return inside[id] })
			meetings.meet(d, ids, control.Bytes, *from+n)
		}
	}
	meetings.tell()
}

// TestBareDesignsStand attacks sound codecs without their prefix.
func TestBareDesignsStand(t *testing.T) {
	var designs []codecs.Design
	for _, d := range catalog.Variants() {
		if d, ok := bare(d); ok {
			designs = append(designs, d)
		}
	}
	tally := &tally{t: t, designs: len(designs)}
	beside, alone := ids(t, "ENC", "FRM", "TAG", "NON", "PAY", "LNK", "ORA")
	tally.attack(designs, beside, runtime.GOMAXPROCS(0))
	tally.attack(designs, alone, 1)
	t.Logf("%d designs x %d seeds from %d, %d calls: %d accusations", len(designs), *seeds, *from, tally.calls, tally.accusations)
	require.NotZero(t, tally.calls, "nothing was attacked")
}
