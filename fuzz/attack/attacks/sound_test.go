package attacks_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/broken"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// attackedAlone limits the attacks on some neighbors to the given IDs or families. A neighbor
// without a row gets all attacks.
var attackedAlone = map[string][]string{
	"a chain of all tokens": {"LNK", "ORA", "TAG-04"},
	"a signed JSON token":   {"JOS", "KEY-01", "ENC", "FRM", "TAG", "PAY-04"},
	"a bounded count":       {"RES-09", "RES-11", "RES-12", "ENC", "TAG"},
	"an hour of skew":       {"EXP"},
	"a month to live":       {"EXP"},
	"bytes as numbers":      {"PAY"},
	"JSON or base64":        {"PAY"},
	"limited refusals":      {"ORA", "TAG-04", "TAG-19"},
	"named keys":            {"KEY-10", "ORA", "TAG-04", "TAG-19"},
	"signatures of ECDSA":   {"TAG", "ENC"},
	"quoted tokens":         {"TAG-04", "TAG-09", "RES-05"},

	"tokens without randomness, used once": {"EXP", "SEQ", "KEY-07"},
}

// TestNeighborsStand attacks sound designs that resemble controls. Under -short each
// gets one attack in 48. Attacks that measure this process run before the others.
func TestNeighborsStand(t *testing.T) {
	testenv.SkipRace(t)
	neighbors := broken.Neighbors()
	for number, name := range slices.Sorted(maps.Keys(neighbors)) {
		t.Run(name, func(t *testing.T) {
			beside, alone := ids(t, attackedAlone[name]...)
			budget, enough := small(), 3
			if testenv.Sample() {
				beside, alone, budget, enough = share(beside, number, 48), share(alone, number, 48), brief(), 0
			}
			r := round{budget: budget}
			results := r.on(t, neighbors[name], alone)
			t.Parallel()
			tested := 0
			for _, cell := range append(results, r.on(t, neighbors[name], beside)...) {
				require.False(t, cell.Accuses(), "%s refutes %s: %s", cell.Attack, cell.Property, cell.Issue)
				if cell.Outcome == verdict.NotRefuted {
					tested++
				}
			}
			require.GreaterOrEqual(t, tested, enough)
		})
	}
}

// TestWorkerIsLost attacks a worker that does not start again. No property may be refuted.
func TestWorkerIsLost(t *testing.T) {
	d := &attack.Design{Design: broken.Neighbors()["an hour of skew"], Worker: []string{"worker"}, Lost: func() error { return errors.New("no answer") }}
	results := runAttacks(t, d, seed, small(), "EXP-01", "NON-01").Results
	require.NotEmpty(t, results)
	for _, r := range results {
		require.Equal(t, verdict.NotTested, r.Outcome, r.Issue)
		require.Contains(t, r.Reason, "did not start again")
	}
}

// TestUsedTokensAfterRestart checks that the loss of a list of used tokens at a restart is
// noted, and refutes nothing.
func TestUsedTokensAfterRestart(t *testing.T) {
	for _, forgets := range []bool{true, false} {
		listed := func() codecs.Design { return broken.Neighbors()["a list of used tokens"] }
		d := &attack.Design{Design: listed()}
		d.Restart = func() error {
			if forgets {
				d.Design = listed()
			}
			return nil
		}
		results := runAttacks(t, d, seed, small(), "EXP-05").Results
		require.Len(t, results, 1)
		require.Equal(t, verdict.NotRefuted, results[0].Outcome, results[0].Issue)
		require.Equal(t, forgets, strings.Contains(results[0].Note, "after a restart"), results[0].Note)
	}
}

// TestStretchedKeysAreNotSteered checks that work which the token controls is told from other
// work.
func TestStretchedKeysAreNotSteered(t *testing.T) {
	met := 0
	for name, steered := range map[string]bool{"broken-stretched": false, "broken-stretched-once": false, "broken-count-inside": true, "broken-inflated": true} {
		for _, c := range broken.Controls() {
			if c.Name != name {
				continue
			}
			met++
			t.Run(name, func(t *testing.T) {
				for id, falls := range map[string]bool{"RES-09": !steered, "RES-12": steered} {
					for _, cell := range campaign(t, c.Design, id) {
						require.Equal(t, falls, cell.Outcome == verdict.Refuted, "%s: %s", id, cell.Issue)
					}
				}
			})
		}
	}
	require.Equal(t, 4, met)
}
