package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs"
	"sealab/codecs/casefile"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks"
	"sealab/internal/cli"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// NewReplay returns the command "replay".
func NewReplay() *cobra.Command {
	var r replayer
	cmd := &cobra.Command{
		Use:     "replay FILE... [FINDING...]",
		Aliases: []string{"check"},
		Short:   "Repeat recorded questions: findings and case files",
		Long: `Repeat the questions in files and compare the answers.

A file of findings, as "sealab attack" writes it: the deciding calls of each
finding are made again, or the attack is run again under its seed. FINDING
restricts the replay to the findings of these IDs.

A finding of "sealab review": its controls and then its case are carried out
again, on the server at the URL of the finding, or on the server that --stdio
starts. Give the credentials again.

A case file (JSON Lines, each line a token, how it was presented to an SDK, and
the answer of the SDK): the design that mirrors the SDK must give the same
answer. Lines that differ are printed whole.

The command never runs a program that a file names. For a finding about a
worker, give the command that starts the worker with --worker; this worker is
also asked the questions of all case files.

Exit status: 0 if every question was asked, no finding shows and no answer
differs; 1 if a finding shows or an answer differs; 2 if a file cannot be
read or a question could not be asked (not tested).`,
		Example: `  sealab replay findings.json
  sealab replay findings.json F-0123456789
  sealab replay findings.json --worker "python3 worker.py"
  sealab replay findings.json --header-file alice.txt --second-file bob.txt
  sealab replay mcp-ts.jsonl mcp-py.jsonl --show 1`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.out, r.notes, r.ctx = r.outcomes.Begin(cmd), cmd.ErrOrStderr(), cmd.Context()
			if err := r.server.credentials(); err != nil {
				return err
			}
			return r.run(args)
		},
	}
	cmd.Flags().StringVar(&r.command, "worker", "", "`command` that starts the worker to ask, words separated by spaces")
	r.server.addTarget(cmd)
	r.outcomes.AddFlags(cmd)
	cmd.Flags().IntVar(&r.show, "show", 10, "print this `number` of answers that differ")
	return cmd
}

// A replayer replays the cases and findings in files.
type replayer struct {
	command string      // of the worker to ask; "" for the catalog
	server  reviewFlags // how to reach the server of a review
	ctx     context.Context
	show    int // number of differing answers still to print

	outcomes   cli.Outcomes
	out, notes io.Writer
	tallies    map[string]tally // of case files, by system
	shown      int              // findings that were reproduced
	untested   int              // questions that could not be tested
	dialed     []*subject.Worker
}

// A tally counts the cases of a system.
type tally struct{ agree, untested, all int }

func (t tally) String() string {
	if t.untested == 0 {
		return fmt.Sprintf("%d/%d", t.agree, t.all)
	}
	return fmt.Sprintf("%d/%d, %d not tested", t.agree, t.all, t.untested)
}

var findingID = regexp.MustCompile(`^F-[0-9a-f]{10}$`)

func (r *replayer) run(args []string) error {
	var ids []string
	files := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		if findingID.MatchString(arg) {
			ids = append(ids, arg)
			return true
		}
		return false
	})
	if len(files) == 0 {
		return fmt.Errorf("no file among %v; want the file of the findings", args)
	}
	asked, err := readQuestions(files, ids)
	if err != nil {
		return err
	}
	if len(asked.cases)+len(asked.findings) == 0 {
		return fmt.Errorf("%s: no question to ask", strings.Join(files, ", "))
	}
	find, end, err := r.designs(len(asked.cases) > 0)
	if err != nil {
		return err
	}
	defer end()
	r.tallies = map[string]tally{}
	for _, c := range asked.cases {
		if err := r.ask(c, find); err != nil {
			return err
		}
	}
	for _, f := range asked.findings {
		if err := r.reproduce(f); err != nil {
			return err
		}
	}
	return r.outcomes.End(r.report())
}

// replayInput holds the contents of files.
type replayInput struct {
	cases    []placedCase
	findings []findings.Finding
}

// A placedCase is a case and its file.
type placedCase struct {
	casefile.Case
	file string
}

// readQuestions reads the files. If ids are given, it returns only the findings
// with these IDs, and a missing one is an error.
func readQuestions(files, ids []string) (replayInput, error) {
	var all replayInput
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return all, err
		}
		if isFindings(data) {
			of, err := findings.Read(data)
			if err != nil {
				return all, fmt.Errorf("%s: %w", file, err)
			}
			all.findings = append(all.findings, of...)
			continue
		}
		if first, _, more := bytes.Cut(bytes.TrimSpace(data), []byte("\n")); more && string(bytes.TrimSpace(first)) == "{" {
			return all, fmt.Errorf("%s: want findings, a JSON array, or cases, one JSON object a line; sealab vectors verify reads vectors", file)
		}
		cases, err := casefile.Read(bytes.NewReader(data))
		if err != nil {
			return all, fmt.Errorf("%s:%w", file, err)
		}
		for _, c := range cases {
			all.cases = append(all.cases, placedCase{c, file})
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	var chosen []findings.Finding
	for _, id := range ids {
		i := slices.IndexFunc(all.findings, func(f findings.Finding) bool { return f.ID == id })
		if i < 0 {
			return all, fmt.Errorf("%s: no finding %s among %d", strings.Join(files, ", "), id, len(all.findings))
		}
		chosen = append(chosen, all.findings[i])
	}
	all.findings = chosen
	return all, nil
}

// isFindings reports whether data is a file of findings, a JSON array that is
// empty or has several lines, rather than JSON Lines.
func isFindings(data []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	first = bytes.TrimSpace(first)
	return bytes.Equal(first, []byte("[")) || bytes.HasPrefix(first, []byte("[{")) || bytes.Equal(first, []byte("[]"))
}

// designs returns a function that finds the design for a case: in the catalog,
// or the worker for every case.
func (r *replayer) designs(needed bool) (find func(string) (codecs.Design, error), end func(), err error) {
	if r.command == "" || !needed {
		return catalog.Find, func() {}, nil
	}
	d, err := r.dial()
	if err != nil {
		return nil, nil, err
	}
	return func(string) (codecs.Design, error) { return d.Design.Design, nil }, d.End, nil
}

// dial starts the worker.
func (r *replayer) dial() (*subject.Worker, error) {
	d, err := subject.Dial(strings.Fields(r.command), r.notes)
	if err == nil {
		r.dialed = append(r.dialed, d)
	}
	return d, err
}

// ask replays one case. The error is a failed write or an unknown design.
func (r *replayer) ask(c placedCase, find func(string) (codecs.Design, error)) error {
	d, err := find(c.Design)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", c.file, c.Line, err)
	}
	t := r.tallies[c.System]
	defer func() { r.tallies[c.System] = t }()
	t.all++
	got, agrees, err := c.Ask(d)
	place := fmt.Sprintf("%s:%d", c.file, c.Line)
	switch {
	case err != nil:
		t.untested++
		r.untested++
		r.outcomes.Ask(c.System, place, verdict.NotTested, cli.Line(err))
		_, err = fmt.Fprintf(r.out, "%s:%d: not tested: %s\n", c.file, c.Line, cli.Line(err))
		return err
	case agrees:
		t.agree++
		r.outcomes.Ask(c.System, place, verdict.NotRefuted, "")
		return nil
	}
	r.outcomes.Ask(c.System, place, verdict.Refuted, fmt.Sprintf("%s: %s, where the line says otherwise", c.Note, got))
	if r.show == 0 {
		return nil
	}
	r.show--
	_, err = fmt.Fprintf(r.out, "%s:%d: %s: %s, where the line says otherwise:\n  %s\n", c.file, c.Line, c.Note, got, c.Text)
	return err
}

// reproduce replays one finding and prints the outcome.
func (r *replayer) reproduce(f findings.Finding) (err error) {
	failed := r.again(f)
	switch {
	case failed == nil:
		r.shown++
		r.outcomes.Ask(f.Location.Subject(), f.ID, verdict.Refuted, "shows again: "+f.Issue)
		_, err = fmt.Fprintf(r.out, "%s shows again: %s, %s: %s\n", f.ID, f.Location.Subject(), f.Category, f.Issue)
	case errors.Is(failed, attack.ErrStands):
		r.outcomes.Ask(f.Location.Subject(), f.ID, verdict.NotRefuted, cli.Line(failed))
		_, err = fmt.Fprintf(r.out, "%s does not show: %s\n", f.ID, cli.Line(failed))
	default:
		r.untested++
		r.outcomes.Ask(f.Location.Subject(), f.ID, verdict.NotTested, cli.Line(failed))
		_, err = fmt.Fprintf(r.out, "%s was not tested: %s\n", f.ID, cli.Line(failed))
	}
	return err
}

// again returns nil if a finding is reproduced, attack.ErrStands if it is not,
// and any other error if it was not tested.
func (r *replayer) again(f findings.Finding) error {
	if f.Recipe != nil {
		return r.server.reproduce(r.ctx, f)
	}
	if f.Reproducer == nil {
		return fmt.Errorf("it has no reproducer; verify it with: %q", f.Verification)
	}
	if f.Location.Worker == nil {
		d, err := subject.FindDesign(f.Location.Design)
		if err != nil {
			return err
		}
		return reproduceOn(&attack.Design{Design: d, Options: f.Location.Options}, f)
	}
	if strings.TrimSpace(r.command) == "" {
		return fmt.Errorf("it is of the worker %q; start it with --worker", f.Location.Worker)
	}
	s, err := r.dial()
	if err != nil {
		return err
	}
	defer s.End()
	if s.Name != f.Location.Design {
		return fmt.Errorf("it is of the worker %q, and --worker starts %q", f.Location.Design, s.Name)
	}
	s.Options = f.Location.Options
	if err := attack.Check(s.Design); err != nil {
		return err
	}
	return reproduceOn(s.Design, f)
}

func reproduceOn(s *attack.Design, f findings.Finding) error {
	budget := attack.DefaultBudget()
	budget.Stopwatch = stopwatch(s.Worker != nil, time.Now())
	a, err := attack.Find(attacks.All(), f.Reproducer.Attack)
	if err != nil {
		return err
	}
	return attack.Reproduce(s, a, f.Category, f.Reproducer, budget)
}

// report prints the tallies and returns the error of the outcome.
func (r *replayer) report() error {
	var total tally
	t := table.New("ll").AtMargin()
	for _, system := range slices.Sorted(maps.Keys(r.tallies)) {
		of := r.tallies[system]
		total = tally{total.agree + of.agree, total.untested + of.untested, total.all + of.all}
		t.Row(system, of.String())
	}
	if total.all > 0 {
		t.Row("total", total.String())
	}
	if err := t.Write(r.out); err != nil {
		return err
	}
	for _, d := range r.dialed {
		if err := d.Breach(); err != nil {
			return err
		}
	}
	switch {
	case r.shown > 0 || total.agree+total.untested < total.all:
		return cli.ErrRefuted
	case r.untested > 0:
		return fmt.Errorf("not tested: %s", table.Count(r.untested, "question"))
	default:
		return nil
	}
}
