package attack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs/sdk"
	"sealab/fuzz/attack/attacks"
	"sealab/fuzz/attack/cve"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// NewCVE returns the command "cve" and its subcommands.
func NewCVE() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cve",
		Short: "Rediscover known vulnerabilities of token libraries",
		Long: `Attack versions of token libraries that have a published vulnerability, and the
first versions without it. The attacks must refute the vulnerable versions and
not the fixed ones. Each version is installed into its own folder below bin/cve,
from pinned hashes.`,
	}
	cmd.AddCommand(newCVEInstall(), newCVERun())
	return cmd
}

// cveCases holds the flags that select cases.
type cveCases struct{ library, version string }

func (f *cveCases) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.library, "library", "", "only the vulnerabilities of the library of this `name`")
	cmd.Flags().StringVar(&f.version, "version", "", "only the vulnerabilities of this `version`")
}

func (f *cveCases) cases() ([]cve.Case, error) {
	all := slices.DeleteFunc(cve.Cases(), func(c cve.Case) bool {
		return f.library != "" && c.Library != f.library || f.version != "" && c.Vulnerable != f.version
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("no vulnerability of %s", strings.TrimSpace(f.library+" "+f.version))
	}
	return all, nil
}

func newCVEInstall() *cobra.Command {
	var flags cveCases
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the versions from PyPI, npm, Maven and the Go proxy",
		Long: `Install the vulnerable and the fixed versions from their registries by pip, npm,
mvn and go, into folders below bin/cve. Versions that are there are left alone.
The shims need the libraries that "make sdks" installs.`,
		Example: `  sealab cve install
  sealab cve install --library pyjwt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cases, err := flags.cases()
			if err != nil {
				return err
			}
			return cve.Install(".", cases, cmd.OutOrStdout())
		},
	}
	flags.add(cmd)
	return cmd
}

func newCVERun() *cobra.Command {
	var flags cveCases
	var asked cli.Outcomes
	var out, journal string
	bench := cve.Bench{Root: ".", Attacks: attacks.All(), Now: time.Now}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Attack the vulnerable and the fixed versions, and print a table",
		Long: `Attack the vulnerable and the fixed version of each library with every attack on
the property that the vulnerability breaks, and print the attacks that refute it
for the vulnerable version and not for the fixed one. Vulnerabilities that no
token can reach are listed with the reason. A version that is not installed is
skipped.

Exit status: 0 if every vulnerability was found and no attack refutes a fixed
version; 1 if not; 2 if a version could not be asked.`,
		Example: `  sealab cve install
  sealab cve run --out results
  sealab cve run --library pyjwt --version 2.3.0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cases, err := flags.cases()
			if err != nil {
				return err
			}
			kept, err := openCVEJournal(journal, bench)
			if err != nil {
				return err
			}
			if _, err := sdk.All(bench.Root); errors.Is(err, sdk.ErrOutside) {
				return fmt.Errorf("the versions are installed in a clone: %w", err)
			}
			all, untested, failed := attackCases(bench, cases, kept, cmd.ErrOrStderr())
			if failed = cmp.Or(failed, kept.close()); len(all) == 0 {
				return failed
			}
			w := asked.Begin(cmd)
			askCVEs(&asked, all)
			if err := reportCVE(w, cmd.ErrOrStderr(), all, untested, out); failed == nil {
				failed = err
			}
			return asked.End(failed)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "folder of all results: the table and the outcomes go to a new folder in it")
	cmd.Flags().StringVar(&journal, "journal", "", "`file` to append each outcome to, and to continue the same run from")
	cmd.Flags().Uint64Var(&bench.Seed, "seed", 1, "seed of all random choices")
	asked.AddFlags(cmd)
	cmd.Flags().BoolVar(&bench.Class, "class", false, "carry out only the attack for the class of each vulnerability")
	cmd.Flags().DurationVar(&bench.Budget, "budget", 3*time.Minute, "time for each version; attacks that have not ended by then are not tested")
	return cmd
}

// askCVEs adds a question for each vulnerability: whether the attacks find it
// again.
func askCVEs(asked *cli.Outcomes, all []cve.Outcome) {
	for _, c := range all {
		outcome, detail := verdict.NotRefuted, fmt.Sprintf("%s: found by %s in %.1f s", c.Property, strings.Join(c.Found, ", "), c.Seconds)
		switch {
		case len(c.Found) == 0:
			outcome, detail = verdict.Refuted, fmt.Sprintf("%s: not found by %d attacks", c.Property, c.Tested)
		case !c.Rediscovered():
			outcome, detail = verdict.Refuted, detail+"; the fixed version falls to "+strings.Join(c.Fixed, ", ")
		}
		asked.Ask(c.Library+" "+c.Vulnerable, c.CVE, outcome, detail)
	}
}

// attackCases attacks the installed cases. It attacks the others even if a case
// cannot be tested, and returns the first such error.
func attackCases(bench cve.Bench, cases []cve.Case, kept *cveJournal, notes io.Writer) (all []cve.Outcome, untested []cve.Untested, failed error) {
	if bench.Budget <= 0 {
		return nil, nil, fmt.Errorf("--budget %s: want a positive duration", bench.Budget)
	}
	for _, c := range cases {
		if o, ok := kept.known[c.CVE]; ok {
			o.Case = c
			all = append(all, o)
			continue
		}
		if why := c.Unavailable(bench.Root); why != "" {
			fmt.Fprintf(notes, "skipped: %s: %s\n", c.CVE, why)
			untested = append(untested, cve.Untested{CVE: c.CVE, Library: c.Library, Reason: why})
			continue
		}
		fmt.Fprintf(notes, "attacking %s %s\n", c.Library, c.Vulnerable)
		o, err := bench.Attack(c)
		if err != nil {
			fmt.Fprintf(notes, "not tested: %s: %s\n", c.CVE, cli.Line(err))
			untested = append(untested, cve.Untested{CVE: c.CVE, Library: c.Library, Reason: cli.Line(err)})
			failed = cmp.Or(failed, err)
			continue
		}
		all = append(all, o)
		failed = cmp.Or(failed, kept.keep(o))
	}
	if len(all) == 0 && failed == nil {
		failed = fmt.Errorf("no version is installed: sealab cve install")
	}
	return all, untested, failed
}

// reportCVE prints the outcomes, writes them if out is not empty, and returns
// the error for the exit status.
func reportCVE(w, notes io.Writer, all []cve.Outcome, untested []cve.Untested, out string) error {
	var page bytes.Buffer
	if err := cve.Write(&page, all, untested); err != nil {
		return err
	}
	if _, err := w.Write(page.Bytes()); err != nil {
		return err
	}
	dir, _, err := runFolder(out, runfile.CVE)
	if err != nil {
		return err
	}
	if dir != "" {
		data, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFolder(dir, map[string][]byte{"table.txt": page.Bytes(), runfile.MainFile(runfile.CVE): append(data, '\n')}); err != nil {
			return err
		}
		fmt.Fprintf(notes, "wrote %s\n", dir)
	}
	if slices.ContainsFunc(all, func(o cve.Outcome) bool { return !o.Rediscovered() }) {
		return cli.ErrRefuted
	}
	return nil
}

// A cveJournal is a JSON Lines file that stores the outcome of each case when
// it is known. Outcomes of other code, another seed or another budget are
// ignored.
type cveJournal struct {
	lineFile
	run   string
	known map[string]cve.Outcome // by CVE
}

type cveEntry struct {
	Run     string      `json:"run"`
	Outcome cve.Outcome `json:"outcome"`
}

// openCVEJournal opens a journal for reading and appending. If path is empty it
// stores nothing.
func openCVEJournal(path string, bench cve.Bench) (*cveJournal, error) {
	stamp, err := runfile.NewStamp(time.Now(), "")
	if err != nil {
		return nil, err
	}
	j := &cveJournal{
		run:   fmt.Sprintf("%s dirty=%t seed=%d class=%t budget=%s", stamp.Commit, stamp.Dirty, bench.Seed, bench.Class, bench.Budget),
		known: map[string]cve.Outcome{},
	}
	j.lineFile, err = openLines(path, func(line []byte) error {
		var e cveEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("not an entry of a journal of vulnerabilities: %w", err)
		}
		if e.Run == j.run {
			j.known[e.Outcome.CVE] = e.Outcome
		}
		return nil
	})
	return j, err
}

// keep appends an outcome.
func (j *cveJournal) keep(o cve.Outcome) error { return j.append(cveEntry{j.run, o}) }
