package attack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// A stuck codec simulates a worker that gives no answer to some texts.
type stuck struct {
	open
	at       func(token string) bool
	breaches *[]string
}

func (s stuck) Unseal(dst, token []byte) ([]byte, error) {
	if s.at(string(token)) {
		*s.breaches = append(*s.breaches, fmt.Sprintf("%s: no answer (%d)", worker.Hung, len(*s.breaches)))
		return dst, fmt.Errorf("%w: hung", codecs.ErrFault)
	}
	return s.open.Unseal(dst, token)
}

// stuckWorker returns a worker that gives no answer to some texts, and its breaches so far.
// Each breach costs a deadline.
func stuckWorker(at func(token string) bool) (*attack.Design, *[]string) {
	breaches := new([]string)
	d := design(codecs.Integrity)
	d.NewCodec = func(codecs.Config) (codecs.Codec, error) { return stuck{at: at, breaches: breaches}, nil }
	d.Worker, d.Misbehavior = []string{"stuck"}, func() []string { return *breaches }
	return d, breaches
}

// TestDeadlinesAreBounded attacks workers that hang. Calls known to hang are not repeated, and
// a worker that hangs at many calls is given up.
func TestDeadlinesAreBounded(t *testing.T) {
	var all []attack.Attack
	for i := range 10 {
		all = append(all, attack.Attack{ID: fmt.Sprintf("A-%02d", i), Refutes: []codecs.Property{codecs.Integrity}, Run: func(t *attack.T) {
			in, tok, ok := t.Base()
			for _, text := range []string{"!", "!" + fmt.Sprint(i), "?"} {
				if ok {
					t.Change(in, tok, []byte(text), "no token")
				}
			}
		}})
	}
	attacked := func(d *attack.Design) verdict.Design {
		r := attack.Runner{Attacks: all, Seed: 1}
		return r.Attack(d)
	}
	t.Run("one text", func(t *testing.T) {
		d, breaches := stuckWorker(func(token string) bool { return token == "!" })
		got := attacked(d)
		require.Len(t, *breaches, 3, "one deadline, and two to show it again")
		require.False(t, d.Broken())
		require.Equal(t, verdict.NotRefuted, tally(t, got, codecs.Integrity).Outcome)
		require.Equal(t, len(all), tally(t, got, codecs.Integrity).Done)
		require.Equal(t, verdict.Refuted, tally(t, got, codecs.Total).Outcome)
	})
	t.Run("many texts", func(t *testing.T) {
		d, breaches := stuckWorker(func(token string) bool { return len(token) < 3 })
		got := attacked(d)
		require.LessOrEqual(t, len(*breaches), 3+2+2+2)
		require.True(t, d.Broken())
		require.Equal(t, verdict.Refuted, tally(t, got, codecs.Total).Outcome)
		last := got.Results[len(got.Results)-1]
		require.Equal(t, verdict.NotTested, last.Outcome)
		require.Equal(t, "the worker gave no answer 4 times and is not asked again", last.Reason)
	})
}
