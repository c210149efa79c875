// Command replay runs fuzz inputs that are there already, to learn what they
// cover. It is built with -cover, which go test does not allow beside -fuzz, and
// which lets a program read its counters only where it is no test.
//
//	SEALAB_FUZZ_JOB=<file> SEALAB_FUZZ_SCRATCH=<folder> replay <target>
package main

import (
	"os"

	"sealab/fuzz/harness"
	"sealab/fuzz/program"
	"sealab/fuzz/target"
)

func main() { os.Exit(harness.Main(find)) }

func find(name string) (seeds [][]byte, run func([]byte) error, err error) {
	t, err := target.Find(name)
	if err != nil {
		return nil, nil, err
	}
	seeds, err = t.Seeds()
	return seeds, func(input []byte) error { return t.Run(program.New(input)) }, err
}
