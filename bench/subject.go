package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/internal/runfile"
)

// A Subject is a thing to measure. Prepare sets up one of its cells; it fails
// with codecs.ErrUnsupported where the subject does not have the operation.
type Subject struct {
	runfile.Subject
	Prepare func(op runfile.Op, payload []byte) (Cell, error)
}

// A Cell is one operation, ready to be timed.
type Cell struct {
	// Run runs n operations and returns the time that they took. A subject that
	// lives in another process is timed inside it.
	Run func(n int) (time.Duration, error)
	// TokenSize is the length in bytes of the token that is made or read.
	TokenSize int
	// InProcess says that Run allocates in this process, where it is counted.
	InProcess bool
}

// repeat returns s as a subject of its own, to be measured a second time.
func repeat(s Subject) Subject {
	s.Role, s.Repeats = runfile.RoleRepeat, s.Name
	s.Name += "-again"
	s.Doc = s.Repeats + " a second time: what differs is noise"
	return s
}

// choose returns the subjects with the given names, in the order of all, or all
// of them when no names are given.
func choose(all []Subject, names []string) ([]Subject, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Subject
	for _, s := range all {
		if slices.Contains(names, s.Name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(s Subject) bool { return s.Name == name }) {
			return nil, fmt.Errorf("sealab: no subject %q; there are %s", name, strings.Join(subjectNames(all), ", "))
		}
	}
	return chosen, nil
}

func subjectNames(all []Subject) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names
}
