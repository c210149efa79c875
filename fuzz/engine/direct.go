package engine

// direct is a file for package testing of the standard library, which Overlay
// compiles into it. It is a constant and not an embedded file, because go-fuzz
// copies only the Go files of this build.
const direct = `package testing

import "io"

// direct returns the function that a worker calls for each input. If ff takes one
// []byte, that is ff itself in the worker's own goroutine; otherwise it is
// subtest, which starts a goroutine, a context and a test for each input. ff must
// recover from its panics and fail by T.Error alone, because T.FailNow ends the
// goroutine.
func (f *F) direct(ff any, subtest func(io.Writer, corpusEntry) bool) func(io.Writer, corpusEntry) bool {
	call, ok := ff.(func(*T, []byte))
	if !ok {
		return subtest
	}
	t := &T{common: common{name: f.name, parent: &f.common, level: f.level + 1, ctx: f.ctx}, tstate: f.tstate}
	t.setOutputWriter()
	return func(out io.Writer, e corpusEntry) bool {
		f.fstate.deps.ResetCoverage()
		call(t, e.Values[0].([]byte))
		f.fstate.deps.SnapshotCoverage()
		if !t.failed {
			return true
		}
		out.Write(t.output)
		t.failed, t.output = false, nil
		return false
	}
}
`
