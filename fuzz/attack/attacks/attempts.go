package attacks

import (
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// attemptCount is the number of equal refusals in a row. A limit of attempts may show after few.
const attemptCount = 12

// refusalsInARow presents an authentic token in one wrong context many times, and an altered one as
// many times. The refusals of both must change alike: a limit that counts some refusals only tells
// which tokens are authentic.
func (t trial) refusalsInARow(tok *attack.Token) {
	if !t.Design.IsScheme() {
		return
	}
	var wrong []codecs.Context
	for _, f := range fields.All {
		wrong = append(wrong, f.Put(tok.Under, f.Unrelated()[0]))
	}
	if !t.Design.OwnClock {
		wrong = append(wrong, attack.Later(tok.Under, 400*24*time.Hour))
	}
	for _, c := range wrong {
		if t.attemptsDiffer(tok.Under, c) {
			return
		}
	}
}

// attemptsDiffer reports whether refusals in context c change for authentic tokens only, or for
// altered ones only. It asks twice, because a limit may belong to the whole process.
func (t trial) attemptsDiffer(under, c codecs.Context) bool {
	var last [2][]verdict.Call
	for range 2 {
		for k := range last {
			var ok bool
			if last[k], ok = t.attempts(under, c, k == 1); !ok {
				return false
			}
		}
		t.Try(codecs.UniformRefusal)
		if laterChange(last[0]) > 0 == (laterChange(last[1]) > 0) {
			return false
		}
	}
	kinds := []string{"an authentic token", "an altered token"}
	changed := slices.IndexFunc(last[:], func(calls []verdict.Call) bool { return laterChange(calls) > 0 })
	at := laterChange(last[changed])
	t.refusalsDiffer(last[changed][0], last[changed][at], "refusal %d in a row of %s differs from the first, and that of %s does not", at+1, kinds[changed], kinds[1-changed])
	return true
}

// attempts presents one new token to a new handle many times in context c. It reports false unless
// all are refused.
func (t trial) attempts(under, c codecs.Context, spoil bool) (calls []verdict.Call, ok bool) {
	in, err := t.Open(t.Secret(0))
	if err != nil {
		return nil, false
	}
	sealed := in.Seal(t.State(24), under)
	if sealed.Answer.Outcome != verdict.Done {
		return nil, false
	}
	text := sealed.Answer.Out
	if spoil {
		text = lastAltered(in.TokenOf(sealed, under))
	}
	for range attemptCount {
		call := in.Unseal(text, c)
		if call.Answer.Outcome != verdict.Refused {
			return nil, false
		}
		calls = append(calls, call)
	}
	return calls, true
}

// laterChange returns the position of the first refusal that differs from those before, or 0 or the first ones differ already.
func laterChange(calls []verdict.Call) int {
	differs := func(c verdict.Call) bool { return refusalOf(c) != refusalOf(calls[0]) }
	if at := slices.IndexFunc(calls, differs); at > 2 {
		return at
	}
	return 0
}
