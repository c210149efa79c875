package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/analysis/taint"
	"sealab/analysis/timing"
	"sealab/internal/atomicfile"
)

func newLeakReportCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write a page, pictures and findings for a judged run",
		Long: `Write into DIR, from the judgements of "judge" and of "taint", if it ran there:

  report.md      the verdicts of both, as tables
  pictures/      for each pair, how the differences are distributed and how they
                 went in the course of the run
  findings.json  what is refuted or observed, in the form of "sealab attack"`,
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
	progress := newProgress(cmd.ErrOrStderr())
	err = j.WritePictures(dir, func(done int) {
		progress.show("drawing", done, len(j.Verdicts))
	})
	progress.end()
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d pictures, %d findings; the page is %s\n", len(j.Verdicts), len(all), filepath.Join(dir, "report.md"))
	return err
}

// leakReportTaint appends the judgement of the taint logs to the page, if there is
// one, and returns its findings.
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
	const lines = 20 // of each subject; the rest is in the judgement
	page.WriteString("```\n")
	if err := j.WriteTable(page, lines, 0); err != nil {
		return nil, err
	}
	page.WriteString("```\n")
	return j.Findings(dir)
}
