package testenv

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sealab/internal/runfile"
)

// Race reports whether this program was built with the race detector. It is five to
// twenty times slower then, and allocates more.
var Race = sync.OnceValue(func() bool { return runfile.BuildSetting("-race") == "true" })

// PureGo reports whether this program was built without assembly: with the tag
// purego, or for a machine other than amd64 and arm64. Some implementations allocate
// more then.
var PureGo = sync.OnceValue(func() bool {
	return slices.Contains(strings.Split(runfile.BuildSetting("-tags"), ","), "purego") || !slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)
})

// Sample reports whether a test runs a deterministic sample of its matrix: under
// -short and under the race detector. make matrices runs the whole.
func Sample() bool { return testing.Short() || Race() }
