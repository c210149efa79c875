// Package gofuzz gives the fuzz targets to github.com/dvyukov/go-fuzz, whose
// engine also runs as a fleet: one function per target, called after its native
// one.
//
//	go tool go-fuzz-build -preserve $(PRESERVE) -func FuzzText -o text.zip sealab/fuzz/gofuzz
//	go tool go-fuzz -bin text.zip -workdir DIR
//
// DIR/corpus holds raw inputs, which sealab fuzz corpus convert makes of native
// ones. PRESERVE, in the Makefile, names packages that must not be instrumented:
// their assembly stubs carry compiler directives.
package gofuzz

import (
	"sealab/fuzz/target"
)

func FuzzText(data []byte) int       { return run("text", data) }
func FuzzInside(data []byte) int     { return run("inside", data) }
func FuzzClaims(data []byte) int     { return run("claims", data) }
func FuzzRelations(data []byte) int  { return run("relations", data) }
func FuzzSequences(data []byte) int  { return run("sequences", data) }
func FuzzContexts(data []byte) int   { return run("contexts", data) }
func FuzzReadings(data []byte) int   { return run("readings", data) }
func FuzzRemote(data []byte) int     { return run("remote", data) }
func FuzzPrimitives(data []byte) int { return run("primitives", data) }
func FuzzJson(data []byte) int       { return run("json", data) }
func FuzzPython(data []byte) int     { return run("python", data) }
func FuzzServing(data []byte) int    { return run("serving", data) }
func FuzzAnswers(data []byte) int    { return run("answers", data) }
func FuzzPeers(data []byte) int      { return run("peers", data) }

// run runs one input. What does not hold is a panic, which is what go-fuzz takes
// for a crash. It returns 0: no input is worth more than another.
func run(name string, data []byte) int {
	t, err := target.Find(name)
	if err != nil {
		panic(err)
	}
	if err := t.Run(data); err != nil {
		panic(err)
	}
	return 0
}
