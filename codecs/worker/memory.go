package worker

import (
	"fmt"
	"time"

	"sealab/codecs"
)

// Memory is the memory of a worker's processes and their children, in bytes.
type Memory struct {
	Resident uint64 // in memory now
	Peak     uint64 // in memory at most since Memory was last asked, or since the start
	Mapped   uint64 // addresses at most since the start, touched or not
}

// Memory returns the memory of the worker's processes, and begins a new peak. Its
// error has codecs.ErrUnsupported in its chain if the system does not tell, and
// codecs.ErrFault if no process runs.
func (c *Client) Memory() (Memory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return Memory{}, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return memoryOf(c.process.cmd.Process.Pid)
}

// Work returns the processor time of the worker's processes and their children. It is
// less than before after a process has ended. Its error is as that of Memory.
func (c *Client) Work() (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return workOf(c.process.cmd.Process.Pid, true)
}
