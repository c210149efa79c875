package refusals

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/tokens"
)

// paddingMasks are the changes of a block under which the same padding must be told apart.
var paddingMasks = []byte{0x55, 0xaa, 0x3c}

// findPaddingOracle presents states with 16 last bytes of the block before the last one. It records a finding
// if one of them is refused in another way than all others, each time the same: that with a valid padding. A
// padding of one byte is not tested, since its block is unchanged and may be a length or a separator.
func findPaddingOracle(t *review.T) bool {
	for _, mint := range []func() (string, string){t.Mint, t.OtherToken} {
		token, reason := mint()
		if reason != "" || tokens.Shows(token) {
			return false
		}
		for i := range tokens.PaddingProbes(token, 0) {
			n, evidence := 0, ""
			for round, mask := range paddingMasks {
				var at int
				if at, evidence = differentRefusal(t, tokens.PaddingProbes(token, mask)[i]); at < 1 || round > 0 && at != n {
					n = 0
					break
				}
				n = at
			}
			if n == 0 {
				continue
			}
			t.Refute(review.Finding{Case: "a padding oracle", Severity: review.Critical,
				Issue:    "a state with a valid padding is refused in another way than one with a wrong padding: a padding oracle, which decrypts and forges states",
				Evidence: fmt.Sprintf("of 16 changed bytes only that of a padding of %d bytes differs, %d times: %s", n+1, len(paddingMasks), evidence), Want: "one class", Got: "two"})
			return true
		}
	}
	return false
}

// differentRefusal returns the index of the only variant that is not refused like all others, or -1.
func differentRefusal(t *review.T, all []tokens.Variant) (at int, evidence string) {
	by := map[string][]int{}
	var answers []client.Answer
	for i, v := range all {
		a := t.Tried(t.Present(v.State()))
		if !a.Refused() {
			return -1, ""
		}
		by[a.Refusal()] = append(by[a.Refusal()], i)
		answers = append(answers, a)
	}
	if len(by) != 2 {
		return -1, ""
	}
	for _, same := range by {
		if len(same) == 1 {
			other := (same[0] + 1) % len(all)
			return same[0], fmt.Sprintf("%s -> %v; %s -> %v", all[same[0]].Name, answers[same[0]], all[other].Name, answers[other])
		}
	}
	return -1, ""
}
