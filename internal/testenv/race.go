package testenv

import (
	"runtime/debug"
	"sync"
	"testing"
)

// Race reports whether this program was built with the race detector. It is five to
// twenty times slower then, and allocates more.
var Race = sync.OnceValue(func() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, setting := range info.Settings {
		if setting.Key == "-race" {
			return setting.Value == "true"
		}
	}
	return false
})

// Sample reports whether a test runs a deterministic sample of its matrix: under
// -short and under the race detector. make test also runs the whole without the
// detector.
func Sample() bool { return testing.Short() || Race() }
