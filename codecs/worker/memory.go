package worker

import (
	"fmt"

	"sealab/codecs"
)

// Memory is what the processes of a worker hold, its children included, in bytes.
type Memory struct {
	Resident uint64 // in memory now
	Peak     uint64 // in memory at most since Memory was last asked, or since the start
	Mapped   uint64 // addresses at most since the start, touched or not
}

// Memory returns what the worker's processes hold, and begins a new peak. Its
// error is in the chain codecs.ErrUnsupported where the system does not tell, and
// codecs.ErrFault where no process runs.
func (c *Client) Memory() (Memory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return Memory{}, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return memoryOf(c.process.cmd.Process.Pid)
}
