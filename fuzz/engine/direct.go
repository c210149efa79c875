//go:build ignore

package testing

import "io"

// Overlay compiles this file into package testing of the standard library.

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
