package attacks

import (
	"fmt"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
)

// randomTokens is the number of tokens whose randomness is tested.
const randomTokens = 20_000

// randomness seals one state many times and tests the bytes that vary. A time, a counter or a
// structured part is allowed, so a lack of randomness is only an observation.
func (t trial) randomness(in *attack.Instance, tok *attack.Token) {
	if in.Deterministic(tok) {
		t.Skip("sealing is deterministic")
		return
	}
	var raws [][]byte
	for k := 0; k < min(randomTokens, t.Budget.Seals); k += attack.BatchSize {
		if k > 0 && t.Spent() {
			t.Note("over %d tokens, until the time was over", k)
			break
		}
		for _, call := range in.Resealed(tok, attack.BatchSize) {
			if raw := tokenfmt.Infer(call.Answer.Out, tok.Text).Bytes(); len(raws) == 0 || len(raw) == len(raws[0]) {
				raws = append(raws, raw)
			}
		}
	}
	report, ok := tokenfmt.Randomness(raws)
	if !ok {
		t.Skip("fewer than 1,000 tokens of one length, or no byte of them varies freely")
		return
	}
	t.Try(codecs.FreshNonces)
	t.Note("%s", report)
	if failed := report.Failed(); failed != "" {
		t.Observe(codecs.FreshNonces, fmt.Sprintf("the bytes of %d tokens that vary are not random: %s", len(raws), failed), tok.Sealed)
	}
}
