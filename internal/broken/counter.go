package broken

import "sync/atomic"

// A counter counts tokens.
type counter struct{ n atomic.Uint64 }

// next returns 0, 1, 2 and so on.
func (c *counter) next() uint64 { return c.n.Add(1) - 1 }
