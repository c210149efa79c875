package testenv

import (
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Race reports whether this program was built with the race detector. It is five to
// twenty times slower then, and allocates more.
var Race = sync.OnceValue(func() bool { return setting("-race") == "true" })

// PureGo reports whether this program was built with the tag purego, without
// assembly. Some implementations allocate more then.
var PureGo = sync.OnceValue(func() bool {
	return slices.Contains(strings.Split(setting("-tags"), ","), "purego")
})

// setting returns a setting of the build, "" if it is unknown.
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Sample reports whether a test runs a deterministic sample of its matrix: under
// -short and under the race detector. make test also runs the whole without the
// detector.
func Sample() bool { return testing.Short() || Race() }
