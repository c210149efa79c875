package site

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sealab/internal/runfile"
)

// A taintRun is the table of a valgrind run.
type taintRun struct {
	Path  string
	lines map[string]*taintLine
}

// A taintLine is the outcome of one design: the number of lines that depend on a secret.
type taintLine struct{ Outcome, Refusals, Elsewhere, Declassified, Run string }

var taintForm = regexp.MustCompile(`^  (\S+)  +(\S.*?)  +(\d+)  +(\d+)  +(\d+)$`)

func loadTaint(dir string) (*taintRun, error) {
	path := filepath.Join(dir, runfile.MainFile(runfile.Taint))
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &taintRun{dir, map[string]*taintLine{}}
	for line := range strings.Lines(string(text)) {
		if m := taintForm.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			r.lines[m[1]] = &taintLine{m[2], m[3], m[4], m[5], stampOf(dir)}
		}
	}
	if len(r.lines) == 0 {
		return nil, fmt.Errorf("%s: want a table of subjects, found none", path)
	}
	return r, nil
}

// Class returns the CSS class of the outcome.
func (t *taintLine) Class() string { return outcomeClass(t.Outcome) }
