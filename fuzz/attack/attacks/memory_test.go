package attacks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// TestGrowthOfItsOwn attacks a sound subject whose process grows once in a while,
// whatever it is asked: neither the growth nor the new start that it causes is held
// against the design.
func TestGrowthOfItsOwn(t *testing.T) {
	grew := 0
	for i, d := range catalog.Variants() {
		if testenv.Sample() && i%8 != 0 {
			continue // an eighth of the designs
		}
		readings, starts := 0, 0
		s := &attack.Design{Design: d, Worker: []string{"worker"},
			Restart: func() error { starts++; return nil },
			Memory: func() (worker.Memory, error) {
				m := worker.Memory{Resident: 50 << 20, Peak: 50 << 20, Mapped: 1 << 30}
				if readings++; readings%500 == 10 {
					m.Peak += 200 << 20
				}
				return m, nil
			}}
		n := seed + uint64(i)
		got := run(t, s, n, small(), "FRM-03")
		if readings > 10 {
			grew++
			require.Greater(t, starts, 1, "it grew and was not started again")
		}
		for _, cell := range got.Results {
			require.False(t, cell.Accuses(), "%s, seed %d: %s: %s", d.Name, n, cell.Property, cell.Issue)
		}
	}
	require.Positive(t, grew, "no design was read often enough")
}

// TestANewThreadIsNoGrowth attacks a sound subject that starts a thread at the same
// moment of each life: its C library takes addresses for it and writes to none.
func TestANewThreadIsNoGrowth(t *testing.T) {
	d := catalog.Variants()[0]
	readings := 0
	s := &attack.Design{Design: d, Worker: []string{"worker"},
		Restart: func() error { readings = 0; return nil },
		Memory: func() (worker.Memory, error) {
			m := worker.Memory{Resident: 50 << 20, Peak: 50 << 20, Mapped: 1 << 30}
			if readings++; readings > 2 {
				m.Mapped += 128 << 20
			}
			return m, nil
		}}
	got := run(t, s, seed, small(), "FRM-03")
	for _, cell := range got.Results {
		require.Equal(t, verdict.NotRefuted, cell.Outcome, "%s: %s%s", cell.Property, cell.Issue, cell.Reason)
	}
}
