package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/analysis/taint"
	"sealab/analysis/timing"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/table"
)

// NewLeak returns the command "leak" and its subcommands.
func NewLeak() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leak",
		Short: "Test if time, branches or addresses depend on secrets",
		Long: `Test if the time of a design, or the branches and addresses in its code, depend
on secrets.

There are two methods; each finds effects that the other misses. "probe"
measures times on this machine, and "judge" compares them, with the minimum
detectable effect. "taint" runs the designs under valgrind with secrets declared
undefined, and names each line whose branches or addresses depend on them.
"report" adds pictures and findings to the outcomes. "recover" forges a token
from timings.`,
	}
	cmd.AddCommand(newLeakProbe(), newLeakJudge(), newLeakTaint(), newLeakReport(), newLeakRecover())
	return cmd
}

func newLeakJudge() *cobra.Command {
	var limit float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge the samples in a folder",
		Long: fmt.Sprintf(`Judge, for every pair in DIR, if its two classes take the same time. Print a
table and write it as judgement.json into DIR.

The ladder, a set of controls with known delays, shows how far whole passes
shift. Differences up to --limit, or up to the floor of that shift if it is
larger, do not count. The minimum detectable effect (MDE) accounts for the noise
of a pair, the number of tests and the shift.

A pair is refuted if the difference is significant and the second pass confirms
it: same sign, same size within a factor of 3, both larger than the floor. It is
not refuted if no such difference was found, its interval lies inside the MDE,
and the MDE is at most %d times --limit. The table shows the MDE. Otherwise the
pair is not tested, and the table shows how many blocks it needs. Sensible
limits are %d ns for an attacker on the same machine, %d ns on the local network
and %d ns on the internet.

judgement.json has a line for each pair, with numbers of six digits. All other
values follow from the samples.

The exit status is 1 if a guarantee of a design is refuted. It is 2 if a control
has the wrong outcome, which voids the run. Each control with a delay above the
MDE must be found, with the size of its delay, and the MDE of the run must be
at most %d times --limit.`, timing.DetectableAtMost, timing.LimitLibrary, timing.LimitLocal, timing.LimitInternet, timing.DetectableAtMost),
		Example: `  sealab leak judge results/timing/run
  sealab leak judge --limit 100 results/timing/run
  sealab leak judge --json results/timing/run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return leakJudge(cmd, args[0], limit, asJSON) },
	}
	cmd.Flags().Float64Var(&limit, "limit", timing.LimitLibrary, "smallest difference in nanoseconds that counts")
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

func leakJudge(cmd *cobra.Command, dir string, limit float64, asJSON bool) error {
	if limit <= 0 {
		return fmt.Errorf("--limit %g: want more than 0 ns", limit)
	}
	files, err := runfile.ReadSampleFiles(dir)
	if err != nil {
		return err
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	j, err := timing.Judge(files, limit, func(done int) {
		progress.Show("judging", done, len(files))
	})
	progress.End()
	if err != nil {
		return err
	}
	if err := j.Write(dir); err != nil {
		return err
	}
	err = cli.WriteAs(cmd.OutOrStdout(), asJSON, j.Document(dir), func(w io.Writer) error { return j.WriteTable(w, table.Width(w)) })
	if err != nil {
		return err
	}
	switch {
	case j.Controls.Void():
		return fmt.Errorf("the run in %s is void: its controls did not turn out as they must", dir)
	case len(j.Refuted()) > 0:
		return cli.ErrRefuted
	}
	return nil
}

func newLeakReport() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write a page, pictures and findings for a judged run",
		Long: `Write into DIR, from the judgements of "judge" and of "taint", if it ran there:

  report.md      the verdicts of both, as tables
  pictures/      one for each subject: the distribution of the differences of
                 each of its pairs, and their course during the run
  findings.json  refuted pairs and observations, in the form of "sealab attack"`,
		Example: `  sealab leak report results/timing/run`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return leakReport(cmd, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the findings as JSON instead of text")
	return cmd
}

func leakReport(cmd *cobra.Command, dir string, asJSON bool) error {
	j, err := timing.Read(dir)
	if err != nil {
		return err
	}
	all, err := j.Findings(dir)
	if err != nil {
		return err
	}
	page := bytes.NewBuffer(j.Markdown())
	lines, err := leakReportTaint(page, dir)
	if err != nil {
		return err
	}
	all = slices.Concat(all, lines)
	progress := cli.NewProgress(cmd.ErrOrStderr())
	pictures, err := j.WritePictures(dir, func(done int) {
		progress.Show("drawing", done, len(j.Verdicts))
	})
	progress.End()
	if err != nil {
		return err
	}
	data, err := findings.JSON(all)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, "findings.json"), data); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, "report.md"), page.Bytes()); err != nil {
		return err
	}
	if asJSON {
		_, err = cmd.OutOrStdout().Write(data)
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d pictures, %d findings; the page is %s\n", pictures, len(all), filepath.Join(dir, "report.md"))
	return err
}

// leakReportTaint appends the judgement of the taint logs, if there are any, to
// the page and returns its findings.
func leakReportTaint(page *bytes.Buffer, dir string) ([]findings.Finding, error) {
	page.WriteString("\n# Branches and addresses\n\n")
	j, err := taint.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		page.WriteString("not tested: sealab leak taint has not run in this folder\n")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	const lines = 20 // per subject; the judgement has the rest
	page.WriteString("```\n")
	if err := j.WriteTable(page, lines, 0); err != nil {
		return nil, err
	}
	page.WriteString("```\n")
	return j.Findings(dir)
}
