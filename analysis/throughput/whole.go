package throughput

import (
	"slices"

	"sealab/internal/runfile"
)

// Whole returns the runs in the folder of all results that measured every design, oldest first. It leaves
// out runs of some subjects or operations, which are used only by name.
func Whole(results string) ([]*Run, error) {
	dirs, err := runfile.Runs(results, runfile.Bench)
	if err != nil {
		return nil, err
	}
	var whole []*Run
	for _, dir := range dirs {
		r, err := Load(dir)
		if err != nil {
			return nil, err
		}
		if r.whole() {
			whole = append(whole, r)
		}
	}
	return whole, nil
}

// whole reports whether the run has every operation and every role that a run without a choice of subjects
// has on any machine. Names are not compared: the catalog has grown since older runs.
func (r *Run) whole() bool {
	for _, op := range runfile.Ops() {
		if !slices.ContainsFunc(r.places, func(p Place) bool { return p.Op == op }) {
			return false
		}
	}
	for _, role := range []runfile.Role{runfile.RoleDesign, runfile.RoleScheme, runfile.RoleBaseline, runfile.RoleLibrary, runfile.RoleRepeat} {
		if !slices.ContainsFunc(r.Subjects, func(s runfile.Subject) bool { return s.Role == role }) {
			return false
		}
	}
	return true
}

// Earlier returns the run to compare the last of several runs with: the newest other run of the same
// machine, or the run before it if there is none. same says which.
func Earlier(runs []*Run) (earlier *Run, same bool) {
	last := len(runs) - 1
	for i := last - 1; i >= 0; i-- {
		if runs[i].Stamp["host"] == runs[last].Stamp["host"] {
			return runs[i], true
		}
	}
	return runs[last-1], false
}
