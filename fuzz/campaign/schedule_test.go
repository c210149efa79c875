package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSchedule checks that targets with more new coverage get more time, and that the others
// get some.
func TestSchedule(t *testing.T) {
	s := newSchedule([]Target{{Name: "finds"}, {Name: "tired"}, {Name: "never"}})
	turns := map[string]int{}
	for range 300 {
		next := s.next()
		turns[next.target.Name]++
		found := 0
		switch {
		case next.target.Name == "finds":
			found = 100
		case next.target.Name == "tired" && turns["tired"] < 10:
			found = 100
		}
		next.ran(1, 1000, found)
	}
	require.Greater(t, turns["finds"], 3*turns["tired"])
	require.GreaterOrEqual(t, turns["tired"], turns["never"])
	require.Greater(t, turns["never"], 300/(2*maxWeight+2))
}

func TestScheduleRunsATargetOnce(t *testing.T) {
	s := newSchedule([]Target{{Name: "a"}, {Name: "b"}})
	first, second := s.next(), s.next()
	require.NotEqual(t, first.target, second.target)
	require.Nil(t, s.next())
	first.ran(1, 1, 0)
	require.Equal(t, first.target, s.next().target)
}

func TestSliceInExecutions(t *testing.T) {
	sh := targetShare{}
	require.EqualValues(t, firstSlice, sh.executions(20))
	sh.ran(2, 100_000, 0)
	require.EqualValues(t, 1_000_000, sh.executions(20))
	sh.ran(1, 1, 0)
	require.EqualValues(t, minSlice, sh.executions(20))
}

func TestSpread(t *testing.T) {
	require.Equal(t, []int{1, 1}, workersByTarget(2, 5))
	require.Equal(t, []int{2, 1}, workersByTarget(3, 2))
}
