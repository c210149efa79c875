// Command replay runs existing fuzz inputs and measures their coverage. It is built with
// -cover, which go test does not allow together with -fuzz. A test binary cannot read its
// coverage counters.
//
//	SEALAB_FUZZ_JOB=<file> SEALAB_FUZZ_SCRATCH=<folder> replay <target>
package main

import (
	"os"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
)

func main() { os.Exit(harness.Main(find)) }

func find(name string) (harness.Func, error) {
	t, err := targets.Find(name)
	if err != nil {
		return harness.Func{}, err
	}
	return t.Func()
}
