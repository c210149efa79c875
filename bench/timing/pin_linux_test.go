package timing

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestPin checks that pinToProcessor restricts the thread to one of its processors, and that restore undoes this.
func TestPin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	allowed := func() (set unix.CPUSet) {
		require.NoError(t, unix.SchedGetaffinity(0, &set))
		return set
	}
	before := allowed()
	restore := pinToProcessor()
	pinned := allowed()
	require.Equal(t, 1, pinned.Count())
	for cpu := range 1024 {
		require.False(t, pinned.IsSet(cpu) && !before.IsSet(cpu))
	}
	restore()
	require.Equal(t, before, allowed())
}
