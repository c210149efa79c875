package campaign

import (
	"fmt"
	"strings"
	"sync"
)

// maxStops is how often in a row the engine may stop while no input runs.
const maxStops = 5

// stoppedBetween records that the engine stopped while no input ran: a process was
// ended from outside, and the next slice starts another. It fails where that has
// happened maxStops times in a row, since it would go on.
func (c *Campaign) stoppedBetween(result sliceResult) error {
	t, said := result.target, strings.Join(strings.Fields(result.tail), " ")
	if err := c.folder.checkRoom(t); err != nil {
		return err
	}
	if times := c.stops.stopped(t); times == maxStops {
		return fmt.Errorf("sealab: fuzzing %s failed %d times without an input that may be the cause: %s", t.Name, times, said)
	}
	return c.notice(t, fmt.Sprintf("%s: the engine stopped between two inputs, and is started again: %s", t.Name, said))
}

// stops counts, by target, how often in a row the engine stopped.
type stops struct {
	mu    sync.Mutex
	times map[Target]int
}

func newStops() *stops { return &stops{times: map[Target]int{}} }

// stopped counts a stop and returns how many there were in a row.
func (s *stops) stopped(t Target) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[t]++
	return s.times[t]
}

// ran says that the engine did what it was to do.
func (s *stops) ran(t Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.times, t)
}
