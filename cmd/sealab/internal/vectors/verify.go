// Package vectors holds the command "vectors".
package vectors

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/internal/cli"
	"sealab/internal/lab"
	"sealab/internal/verdict"
	"sealab/vectors"
	"sealab/vectors/cases"
	"sealab/vectors/generate"
	"sealab/vectors/replay"
)

// New returns the command "vectors" and its subcommands.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vectors",
		Short: "Make and verify test vectors of every design",
		Long: `Make and verify test vectors: for each design the tokens that an implementation
must accept, and those that it must refuse and at which stage. The format is
sealab-vectors/1; vectors/README.md explains it.`,
	}
	cmd.AddCommand(
		newGenerate(),
		newVerify(),
		newExport(),
		newDist(),
		newMutate(),
	)
	return cmd
}

// addDirFlag adds the flag for the folder of vector files.
func addDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", vectors.Folder, "`folder` of the vector files")
}

// requireCount returns an error if there is no digest for that number of
// inputs.
func requireCount(accumulate int) error {
	if accumulate != 0 && !slices.Contains(generate.DigestCounts, accumulate) {
		return fmt.Errorf("--accumulate %d: want 0, or one of %v", accumulate, generate.DigestCounts)
	}
	return nil
}

// firstSecret returns the key named k1 in a vector file.
func firstSecret(f *vectors.File) ([]byte, error) {
	const name = "k1"
	k, ok := f.Keys[name]
	if !ok {
		return nil, fmt.Errorf("the vectors of %s have no key %q", f.Design, name)
	}
	return k, nil
}

func newVerify() *cobra.Command {
	var v verifier
	cmd := &cobra.Command{
		Use:     "verify [FILE...]",
		Aliases: []string{"check"},
		Short:   "Test a worker, or the designs of the lab, with vector files",
		Long: `Run every test of the given vector files, or of all files in --dir.

With --worker, test a program in any language that speaks the worker protocol.
The report counts the wrong answers by stage and by flag and names their tests;
the notes of the file describe the gain of an attacker. Answers that the file
expects from another reading of its format are counted separately. --as demands
the answers of one such reading instead.

Without --worker, test the design of each file: verdict, stage, reason and
result must be the file's, sealing again must give the same tokens, and the
accumulated digests must be those of --digests.

Exit status: 1 if an answer is wrong, 2 if the worker could not be asked, broke
the protocol or failed too often.`,
		Example: `  sealab vectors verify
  sealab vectors verify vectors/files/aes-256-gcm.json --accumulate 10000
  sealab vectors verify --worker "sealab worker aes-256-gcm" vectors/files/aes-256-gcm.json
  sealab vectors verify --worker sdk:mcp-ts-sdk --as sdk vectors/files/mcp-ts.json
  sealab vectors verify --worker "node worker.mjs" --as sdk vectors/files/mcp-ts.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v.out, v.notes = v.outcomes.Begin(cmd), cmd.ErrOrStderr()
			return v.outcomes.End(v.run(args, cmd.Flags().Changed("worker")))
		},
	}
	addDirFlag(cmd, &v.dir)
	flags := cmd.Flags()
	flags.StringVar(&v.command, "worker", "", "`command` that starts the worker, words separated by spaces; sdk:NAME for an installed SDK")
	flags.StringVar(&v.demand.As, "as", "", "demand the answers of this `reading` of the format")
	flags.StringVar(&v.digests, "digests", generate.DigestsPath, "`file` of the accumulated digests (without --worker)")
	flags.IntVar(&v.limit, "accumulate", 0, "accumulate this `number` of inputs: 0, 100, 10000 or 1000000 (without --worker)")
	v.outcomes.AddFlags(cmd)
	flags.IntVar(&v.most, "most", 20, "show at most this `number` of wrong answers per file")
	return cmd
}

// A verifier runs the tests in vector files according to its flags.
type verifier struct {
	dir, command, digests string
	demand                replay.Demand
	limit                 int // number of inputs to accumulate
	most                  int // maximum number of wrong answers shown per file

	outcomes   cli.Outcomes
	out, notes io.Writer
	client     *worker.Client // nil: use the designs of the catalog
	committed  generate.DigestFile
}

func (v *verifier) run(given []string, ofWorker bool) error {
	paths, err := given, requireCount(v.limit)
	if err == nil && len(paths) == 0 {
		paths, err = vectors.Paths(v.dir)
	}
	if err != nil {
		return err
	}
	if strings.HasSuffix(v.demand.As, "-faithful") {
		v.demand.As = "sdk" // the old name of the reading
	}
	verify := v.ofDesign
	if ofWorker {
		verify = v.ofWorker
		start, err := subject.Starter(strings.Fields(v.command))
		if err != nil {
			return err
		}
		if v.client, err = start(worker.Limits{}); err != nil {
			return err
		}
		defer v.client.Close()
	} else if v.committed, err = generate.ReadDigests(v.digests); err != nil {
		return err
	}
	right := true
	for _, path := range paths {
		f, err := vectors.Read(path)
		if err != nil {
			return err
		}
		ok, err := verify(f)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		right = right && ok
	}
	if !right {
		return cli.ErrRefuted
	}
	return nil
}

// ofWorker runs a file on the worker and reports whether every answer is right.
func (v *verifier) ofWorker(f *vectors.File) (bool, error) {
	if v.demand.As != "" && !hasReading(f, v.demand.As) {
		return false, fmt.Errorf("--as %s: no test has an answer of that reading", v.demand.As)
	}
	r, err := v.report(f, v.client.Design(), v.demand)
	if err != nil {
		return false, err
	}
	return r.Stands(), subject.ProtocolBreach(v.client, r.Subject)
}

// ofDesign runs a file on its design and reports whether every answer and the
// accumulated digests are right.
func (v *verifier) ofDesign(f *vectors.File) (bool, error) {
	d, err := catalog.Find(f.Design)
	if err != nil {
		return false, err
	}
	r, err := v.report(f, d, replay.Demand{Exact: true, Reseal: true})
	if err != nil {
		return false, err
	}
	stands := r.Stands()
	for _, reading := range cases.Readings(&d) {
		as := lab.With(d, map[string]string{cases.OptionReading: reading})
		r, err := v.report(f, as, replay.Demand{As: reading, Exact: true, Reseal: true})
		if err != nil {
			return false, err
		}
		stands = stands && r.Stands()
	}
	secret, err := firstSecret(f)
	if err != nil {
		return false, err
	}
	fresh, err := generate.Accumulate(d, secret, v.limit)
	if err != nil {
		return false, err
	}
	if differs := v.committed.Differs(d.Name, fresh); differs != "" {
		v.outcomes.Ask(d.Name, "accumulated digests", verdict.Refuted, differs)
		fmt.Fprintln(v.out, "wrong:", differs)
		return false, nil
	}
	return stands, nil
}

// report runs a file on a design and prints the report, with the first event of
// a worker that broke. It returns an error if the run ended early or no test
// could be run.
func (v *verifier) report(f *vectors.File, d codecs.Design, demand replay.Demand) (*replay.Report, error) {
	r := replay.Run(f, d, demand)
	if err := r.Write(v.out, v.most); err != nil {
		return nil, err
	}
	for _, x := range r.Findings {
		outcome := map[replay.Outcome]verdict.Outcome{replay.Wrong: verdict.Refuted, replay.NotTested: verdict.NotTested}[x.Outcome]
		v.outcomes.Ask(strings.TrimSpace(r.Design+" "+demand.As), x.Test.ID, cmp.Or(outcome, verdict.NotRefuted), x.Detail)
	}
	for _, detail := range r.Rings {
		v.outcomes.Ask(r.Design, "ring", verdict.Refuted, detail)
	}
	switch {
	case r.Died != nil:
		return nil, r.Died
	case r.Tested() == 0:
		return nil, fmt.Errorf("no test of %d was answered by %s: %s", len(r.Findings), r.Subject, r.Findings[0].Detail)
	case r.Fault != nil:
		subject.PrintError(v.notes, r.Fault)
	}
	return r, nil
}

// hasReading reports whether a test or ring in the file has an answer for a
// reading.
func hasReading(f *vectors.File, name string) bool {
	return slices.ContainsFunc(f.Tests, func(t vectors.Test) bool { _, ok := t.Readings[name]; return ok }) ||
		slices.ContainsFunc(f.Rings, func(r vectors.Ring) bool { _, ok := r.Readings[name]; return ok })
}
