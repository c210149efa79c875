package cli

import (
	"cmp"
	"runtime/debug"
)

// release is the semantic version of a released build, set by the linker.
var release string

// Version returns the version from which this binary was built.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(release, info.Main.Version, "unknown")
	}
	return cmp.Or(release, "unknown")
}
