package attacks_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks"
	"sealab/internal/broken"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// TestMain collects garbage rarely and disables heap profiling, because both together would
// take half of the time. It limits the heap to about 2 GiB.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 0
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
	ballast := make([]byte, 64<<20) // the heap grows to five times this size before a collection
	status := m.Run()
	runtime.KeepAlive(ballast)
	os.Exit(status)
}

// seed is the seed of the tests' runs.
const seed = 1

// small returns a budget under which a run takes a second. Findings that need long searches,
// such as repetitions, have tests of their own.
func small() attack.Budget {
	return attack.Budget{Seals: 1 << 11, Unseals: 1 << 10, Bytes: 1 << 14, Stopwatch: allocation}
}

// allocation replaces the clock. It measures work that allocates, so no test depends on the
// load of the machine. A byte counts as 16 nanoseconds.
func allocation() time.Duration {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return 16 * time.Duration(m.TotalAlloc)
}

func campaign(t *testing.T, d codecs.Design, only ...string) []verdict.Result {
	t.Helper()
	return within(t, small(), d, only...)
}

func within(t *testing.T, budget attack.Budget, d codecs.Design, only ...string) []verdict.Result {
	t.Helper()
	return runAttacks(t, &attack.Design{Design: d}, seed, budget, only...).Results
}

// runAttacks runs the attacks with the given IDs on a design, or all of them if there are none.
func runAttacks(t testing.TB, d *attack.Design, seed uint64, budget attack.Budget, only ...string) verdict.Design {
	t.Helper()
	chosen, err := attack.Select(attacks.All(), only)
	require.NoError(t, err)
	r := attack.Runner{Attacks: chosen, Seed: seed, Budget: budget}
	return r.Attack(d)
}

// TestControlsFall runs the attacks on every control. The attacks that a control names must
// refute it. They must refute the properties that it breaks, and only properties that rest on
// these. Other attacks get reduced settings: those that a control does not name draw from long
// ranges, and those on properties that it keeps have a brief budget. In a sample each control
// gets only the attacks that it names. Under -short one in three attacks of a family gets only
// the first control that names it, and the race detector limits the controls further. Attacks that measure this
// process run before the others.
func TestControlsFall(t *testing.T) {
	t.Logf("seed %d", seed)
	controls := broken.Controls()
	if testing.Short() {
		controls = inFamilies(firstOfEach(controls), 3)
	}
	for i, control := range controls {
		if testenv.Race() && i%24 != 0 {
			continue
		}
		t.Run(control.Name, func(t *testing.T) {
			budget := small()
			budget.Bytes = max(budget.Bytes, control.Bytes)
			rounds := []round{{budget, control.Attacks}}
			if !testenv.Sample() {
				drawn := budget
				drawn.Sweep = sweep
				refuting, others := attacksOn(control)
				rounds = append(rounds, round{drawn, refuting}, round{brief(), others})
			}
			var results []verdict.Result
			for _, r := range rounds {
				_, alone := measured(r.attacks)
				results = append(results, r.on(t, control.Design, alone)...)
			}
			t.Parallel()
			for _, r := range rounds {
				beside, _ := measured(r.attacks)
				results = append(results, r.on(t, control.Design, beside)...)
			}
			saw, fell := map[string]bool{}, map[codecs.Property]bool{}
			for _, cell := range results {
				if cell.Outcome != verdict.Refuted {
					continue
				}
				saw[cell.Attack], fell[cell.Property] = true, true
				if cell.Accuses() {
					require.True(t, rests(cell.Property, control.Breaks), "%s refutes %s: %s", cell.Attack, cell.Property, cell.Issue)
				}
			}
			for _, id := range control.Attacks {
				require.True(t, saw[id], "%s is blind to %s", id, control.Doc)
			}
			for _, p := range control.Breaks {
				require.True(t, fell[p] || p == codecs.SteadyTiming || testenv.Sample(), "%s stands", p)
			}
		})
	}
}

// firstOfEach returns the controls that are the first to name some attack, each reduced to
// those attacks.
func firstOfEach(all []broken.Control) (first []broken.Control) {
	met := map[string]bool{}
	for _, control := range all {
		control.Attacks = slices.DeleteFunc(slices.Clone(control.Attacks), func(id string) bool { return met[id] })
		for _, id := range control.Attacks {
			met[id] = true
		}
		if len(control.Attacks) > 0 {
			first = append(first, control)
		}
	}
	return first
}

// inFamilies keeps the first attack of each family in controls, and every n-th after it.
func inFamilies(controls []broken.Control, n int) []broken.Control {
	met := map[string]int{}
	for i := range controls {
		controls[i].Attacks = slices.DeleteFunc(controls[i].Attacks, func(id string) bool {
			family, _, _ := strings.Cut(id, "-")
			met[family]++
			return met[family]%n != 1
		})
	}
	return slices.DeleteFunc(controls, func(c broken.Control) bool { return len(c.Attacks) == 0 })
}

// A round is a set of attacks with a common budget.
type round struct {
	budget  attack.Budget
	attacks []string
}

// on runs the attacks of r with the given IDs, of which there may be none, on a design.
func (r round) on(t *testing.T, d codecs.Design, ids []string) []verdict.Result {
	t.Helper()
	if len(ids) == 0 {
		return nil
	}
	return within(t, r.budget, d, ids...)
}

// sweep is the number of values that attacks draw from a range if no test depends on all of
// them.
const sweep = 64

// attacksOn returns the IDs of the attacks that aim at a property that a control breaks, and
// those of all others. It leaves out the attacks that the control names.
func attacksOn(control broken.Control) (refuting, others []string) {
	for _, a := range attacks.All() {
		refutes := slices.ContainsFunc(a.Refutes, func(p codecs.Property) bool { return slices.Contains(control.Breaks, p) })
		switch {
		case slices.Contains(control.Attacks, a.ID):
		case refutes:
			refuting = append(refuting, a.ID)
		default:
			others = append(others, a.ID)
		}
	}
	return refuting, others
}

// measured separates the attacks that may run beside others from those that measure this
// process.
func measured(ids []string) (beside, alone []string) {
	for _, a := range attacks.All() {
		switch {
		case !slices.Contains(ids, a.ID):
		case a.Measures:
			alone = append(alone, a.ID)
		default:
			beside = append(beside, a.ID)
		}
	}
	return beside, alone
}

// rests reports whether p is one of the broken properties, or rests on one.
func rests(p codecs.Property, broken []codecs.Property) bool {
	if slices.Contains(broken, p) {
		return true
	}
	for _, info := range codecs.Properties() {
		if info.Property == p {
			return slices.ContainsFunc(info.RestsOn, func(q codecs.Property) bool { return rests(q, broken) })
		}
	}
	return false
}

// TestEveryAttackHasAControl checks that every attack has at least one control, and every
// dropped attack a reason.
func TestEveryAttackHasAControl(t *testing.T) {
	controls := broken.Controls()
	require.GreaterOrEqual(t, len(controls), 40)
	seen := map[string]bool{"RES-07": true} // TestMisbehavior
	for _, c := range controls {
		for _, id := range c.Attacks {
			seen[id] = true
		}
	}
	ids := map[string]bool{}
	for _, r := range attacks.All() {
		require.False(t, ids[r.ID], "%s is there twice", r.ID)
		ids[r.ID] = true
		if r.Run == nil {
			require.NotEmpty(t, r.Dropped, r.ID)
			continue
		}
		require.NotEmpty(t, r.Refutes, r.ID)
		require.NotEmpty(t, r.Gain, r.ID)
		require.NotEmpty(t, r.Origin, r.ID)
		if !seen[r.ID] {
			t.Errorf("%s has no control", r.ID)
		}
	}
	for id := range seen {
		require.True(t, ids[id], "a control names %s, which is no attack", id)
	}
}

// TestMisbehavior checks that breaches of the protocol are reported, unless load can cause
// them.
func TestMisbehavior(t *testing.T) {
	d := catalog.Variants()[0]
	for _, row := range []struct {
		said    []string
		refuted bool
	}{
		{nil, false},
		{[]string{"flooded: a line of 70000000 bytes"}, true},
		{[]string{"hung: once"}, false},
		{[]string{"hung: once", "hung: twice"}, false},
		{[]string{"died: its output ended: signal: killed"}, false},
		{[]string{"hung: once", "died: at once"}, true},
	} {
		got := runAttacks(t, &attack.Design{Design: d, Worker: []string{"worker"}, Misbehavior: func() []string { return row.said }}, seed, small(), "RES-07")
		require.Len(t, got.Results, 1)
		require.Equal(t, row.refuted, got.Results[0].Outcome == verdict.Refuted, "%q", row.said)
	}
}

// TestNoFindingWithoutCause attacks a symmetric design with public data, and a scheme without
// batches with a batch. Neither may give a finding.
func TestNoFindingWithoutCause(t *testing.T) {
	for name, c := range map[string]struct{ design, attack, reason string }{
		"a symmetric design":       {"hmac-sha256", "KEY-11", ""},
		"a scheme without batches": {"hmac-sha256-claims", "CTX-15", "one token at a time"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := catalog.Find(c.design)
			require.NoError(t, err)
			results := runAttacks(t, &attack.Design{Design: d}, seed, small(), c.attack).Results
			require.NotEmpty(t, results)
			for _, r := range results {
				require.NotEqual(t, verdict.Refuted, r.Outcome, r.Issue)
				require.Contains(t, r.Reason, c.reason)
			}
		})
	}
}

// TestEveryRowOfTheCatalogIsThere checks that each of the 69 attacks of the catalog is carried
// out, or dropped with a reason.
func TestEveryRowOfTheCatalogIsThere(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range attacks.All() {
		ids[r.ID] = true
	}
	for family, n := range map[string]int{"ENC": 9, "FRM": 9, "TAG": 11, "KEY": 13, "NON": 4, "CTX": 7, "EXP": 5, "PAY": 6, "RES": 5} {
		for i := range n {
			id := fmt.Sprintf("%s-%02d", family, i+1)
			if !ids[id] {
				t.Errorf("%s is missing", id)
			}
		}
	}
}

// TestDeterministic runs the same attacks twice under one seed and compares the results. Under
// -short it runs one family.
func TestDeterministic(t *testing.T) {
	testenv.SkipRace(t)
	d, families := catalog.Variants()[0], []string{"ENC", "FRM", "TAG"}
	if testing.Short() {
		families = families[:1]
	}
	require.Equal(t, campaign(t, d, families...), campaign(t, d, families...))
}
