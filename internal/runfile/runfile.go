// Package runfile is the form of runs in files: an instrument writes them, an
// analysis reads them, and neither imports the other. A run is a folder
//
//	results/<kind>/<date>-<commit>/
//
// that [Stamp.Dir] names and [Runs] finds. Runs of the benchmark, timing samples
// and taint logs have the forms that the other files of this package describe.
package runfile

// An Expectation is the outcome that a control must have.
type Expectation string

// The expectations. The expectation of a design is Open.
const (
	Open  Expectation = ""
	Leaks Expectation = "leaks"
	Clean Expectation = "clean"
)
