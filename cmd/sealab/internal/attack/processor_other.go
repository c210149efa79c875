//go:build !unix

package attack

import "time"

// processorTime reports false: the time is unknown on this system.
func processorTime() (time.Duration, bool) { return 0, false }
