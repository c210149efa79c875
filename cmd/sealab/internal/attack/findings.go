package attack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sealab/analysis/findings"
	"sealab/codecs/sdk"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/verdict"
	"sealab/vectors"
)

// findingWriters maps the values of --format to functions that write findings.
var findingWriters = map[string]func(io.Writer, []findings.Finding) error{
	"text":     findings.Text,
	"json":     formatWriter(findings.JSON),
	"sarif":    formatWriter(sarifFormatter("")),
	"markdown": formatWriter(func(all []findings.Finding) ([]byte, error) { return findings.Markdown(all), nil }),
}

// checkForm returns an error if format is not in forms.
func checkForm(format string) error {
	if _, ok := findingWriters[format]; !ok {
		return fmt.Errorf("--format %q: want text, json, markdown or sarif", format)
	}
	return nil
}

func formatWriter(form func([]findings.Finding) ([]byte, error)) func(io.Writer, []findings.Finding) error {
	return func(w io.Writer, all []findings.Finding) error {
		data, err := form(all)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
}

// report prints the outcome, writes it if requested, and returns the error for
// the exit status.
func (f *attackFlags) report(w, notes io.Writer, run *verdict.Run) error {
	dir, file, err := runFolder(f.out, runfile.Attack)
	if err != nil {
		return err
	}
	all := findings.Of(run, file)
	if len(f.targets.dialed) > 0 || f.targets.libraries {
		reproducers, err := sdk.Reproducers(".")
		if err != nil && !errors.Is(err, sdk.ErrOutside) {
			return err
		}
		findings.Confirm(all, reproducers)
	}
	if f.format == "text" {
		if err := findings.Table(w, run); err != nil {
			return err
		}
		if slices.ContainsFunc(run.Designs, anyRefuted) {
			fmt.Fprint(w, "sealab attack --list explains the codes of the attacks\n\n")
		}
	}
	if err := findingWriters[f.format](w, all); err != nil {
		return err
	}
	switch {
	case dir != "":
		if err := writeAttack(dir, run, all); err != nil {
			return err
		}
		fmt.Fprintf(notes, "wrote %s\n", dir)
	case f.format == "text" && len(all) > 0:
		fmt.Fprintln(notes, "to replay findings, keep them: add --out results, or --format json > findings.json")
	}
	if err := f.requireFit(); err != nil {
		return err
	}
	untested := f.requireTested(run)
	if !findings.Accusing(all) {
		return untested
	}
	if untested != nil {
		fmt.Fprintf(notes, "sealab: %v\n", untested)
	}
	return cli.ErrRefuted
}

func anyRefuted(d verdict.Design) bool {
	return slices.ContainsFunc(d.Results, func(r verdict.Result) bool { return r.Outcome == verdict.Refuted })
}

// runFolder returns the folder of a new run below out, and the name of its main
// file. If out is empty the run is not written, and the folder is "".
func runFolder(out, kind string) (dir, mainFile string, err error) {
	if out == "" {
		return "", runfile.MainFile(kind), nil
	}
	stamp, err := runfile.NewStamp(time.Now(), "")
	dir = stamp.Dir(out, kind)
	return dir, filepath.Join(dir, runfile.MainFile(kind)), err
}

// askAttacks adds the outcome of each property of each subject. A refuted
// property counts if the subject claims it.
func askAttacks(asked *cli.Outcomes, run *verdict.Run) {
	for _, s := range run.Designs {
		for _, t := range s.Tallies() {
			detail := fmt.Sprintf("%s; %d of %d attacks", t.Claim, t.Done, t.Of)
			for _, c := range s.Results {
				if c.Property == t.Property && c.Outcome == verdict.Refuted {
					detail += "; " + c.Attack + ": " + c.Issue
				}
			}
			if t.Reason != "" {
				detail += "; " + t.Reason
			}
			asked.Questions = append(asked.Questions, cli.Question{
				Subject: s.Name, Name: string(t.Property), Outcome: t.Outcome, Detail: detail,
				Counts: t.Outcome == verdict.Refuted && t.Claim == verdict.Stated,
			})
		}
	}
}

// writeAttack writes the folder of a run, completely or not at all.
func writeAttack(dir string, run *verdict.Run, all []findings.Finding) error {
	raw, err := run.JSON()
	if err != nil {
		return err
	}
	return writeFindings(dir, all, map[string][]byte{"table.md": findings.MarkdownTable(run), "verdicts.json": raw})
}

// writeFindings writes a new folder with the findings in every form, and other
// files.
func writeFindings(dir string, all []findings.Finding, files map[string][]byte) (err error) {
	if files["findings.json"], err = findings.JSON(all); err != nil {
		return err
	}
	if files["findings.sarif"], err = sarifFormatter(dir)(all); err != nil {
		return err
	}
	files["findings.md"] = findings.Markdown(all)
	return atomicfile.WriteFolder(dir, files)
}

// sarifFormatter returns a function that writes findings as SARIF. dir is the
// folder of the findings, or "" if they are only printed.
func sarifFormatter(dir string) func([]findings.Finding) ([]byte, error) {
	from := findings.Source{Version: cli.Version(), Locate: func(f findings.Finding) (string, int) { return findingFile(f, dir), 1 }}
	return func(all []findings.Finding) ([]byte, error) { return findings.SARIF(all, from) }
}

// findingFile returns the file to report for a finding, relative to the working
// folder: the source of the worker, else the vectors of the design, else the
// findings with the tokens.
func findingFile(f findings.Finding, dir string) string {
	for _, word := range f.Location.Worker {
		if filepath.IsLocal(word) && isFile(word) {
			return filepath.ToSlash(filepath.Clean(word))
		}
	}
	if path := filepath.Join(vectors.Folder, f.Location.Design+".json"); f.Location.Worker == nil && isFile(path) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(filepath.Join(dir, "findings.json"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
