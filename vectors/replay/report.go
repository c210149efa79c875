package replay

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"sealab/internal/table"
	"sealab/vectors"
)

// Stands reports whether the run ended and no answer was wrong.
func (r *Report) Stands() bool { return r.Died == nil && len(r.Rings) == 0 && r.count(Wrong) == 0 }

func (r *Report) count(o Outcome) int {
	n := 0
	for _, f := range r.Findings {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

// Tested returns the number of tests that the subject supports.
func (r *Report) Tested() int { return len(r.Findings) - r.count(NotTested) }

// Summary returns one line. It omits the error that ended the run.
func (r *Report) Summary() string {
	name := r.Design
	if r.Subject != r.Design {
		name += ": " + r.Subject
	}
	return fmt.Sprintf("%s: %d tests, %d agreed, %d wrong, %d as another reading, %d not tested; %d rings wrong",
		name, len(r.Findings), r.count(Agreed), r.count(Wrong), r.count(Otherwise), r.count(NotTested), len(r.Rings))
}

// Write writes the summary and a table of wrong answers by stage and by flag.
// Then it writes up to most findings, each with the test's id.
func (r *Report) Write(w io.Writer, most int) error {
	if len(r.Findings) == 0 {
		return nil
	}
	fmt.Fprintln(w, r.Summary())
	if r.count(Wrong)+r.count(Otherwise)+len(r.Rings) == 0 {
		return nil
	}
	if err := r.tables(w); err != nil {
		return err
	}
	for _, detail := range r.Rings {
		fmt.Fprintf(w, "wrong: %s\n", detail)
	}
	shown := 0
	for _, f := range r.Findings {
		if f.Outcome != Wrong {
			continue
		}
		if shown++; shown > most {
			fmt.Fprintf(w, "and %d more\n", r.count(Wrong)-most)
			break
		}
		fmt.Fprintf(w, "wrong: %s: %s (%s)\n", f.Test.ID, f.Detail, f.Test.Comment)
	}
	return nil
}

// tally counts outcomes.
type tally struct{ tests, wrong, otherwise int }

func (r *Report) tables(w io.Writer) error {
	stages, flags := map[string]*tally{}, map[string]*tally{}
	for _, f := range r.Findings {
		stage := f.Test.Stage
		if f.Test.Expect == vectors.Accept {
			stage = "accept"
		}
		add(stages, stage, f.Outcome)
		for _, flag := range f.Test.Flags {
			add(flags, flag, f.Outcome)
		}
	}
	t := table.New("llll").AtMargin()
	for _, kind := range []struct {
		title string
		rows  map[string]*tally
	}{{"stage", stages}, {"flag", flags}} {
		t.Row(kind.title, "tests", "wrong", "as another")
		for _, name := range slices.Sorted(maps.Keys(kind.rows)) {
			row := kind.rows[name]
			t.Row(name, strconv.Itoa(row.tests), strconv.Itoa(row.wrong), strconv.Itoa(row.otherwise))
		}
	}
	return t.Write(w)
}

func add(table map[string]*tally, name string, o Outcome) {
	if table[name] == nil {
		table[name] = &tally{}
	}
	table[name].tests++
	switch o {
	case Wrong:
		table[name].wrong++
	case Otherwise:
		table[name].otherwise++
	}
}
