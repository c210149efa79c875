// Package attack holds the commands that attack designs and servers: attack, review, replay and cve.
package attack

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/cmd/sealab/internal/subject"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// New returns the command "attack".
func New() *cobra.Command {
	var flags attackFlags
	cmd := &cobra.Command{
		Use:   "attack [DESIGN...]",
		Short: "Try to break the guarantees that designs claim",
		Long: `Carry out attacks against designs, and print for each property of each design
whether it is refuted, not refuted, or not tested, and the findings. Without a
name every design of the catalog is attacked; --worker attacks a codec or scheme
in any language that speaks the worker protocol.

All random choices follow from the seed. Each refutation was seen twice, and
"sealab replay" repeats it.

If the time of --budget ends or the command is interrupted, the remaining
attacks are left out. Their properties are not tested, and the results so far
are printed. With --journal the results are also appended to a file after each
attack, and a later run with the same file and seed carries out only the rest.

Exit status: 0 if no claimed property is refuted; 1 if one is; 2 for wrong
usage, if a claimed property is not tested because attacks were left out, or if
a worker states a guarantee of an unknown name, refuses its own ordinary token,
breaks the protocol or fails too often. A refuted property that is not claimed
is an observation.`,
		Example: `  sealab attack
  sealab attack aes-256-gcm mcp-d
  sealab attack --worker "python3 worker.py" --seed 7
  sealab attack --worker "python3 worker.py" --jobs 2 --journal worker.jsonl
  sealab attack mcp-d --option bind=authSubjectAndTool
  sealab attack --worker "python3 worker.py" --format json > findings.json
  sealab attack --only ENC --only TAG-06 hmac-sha256
  sealab attack --sdks --libraries --out results
  sealab attack --list`,
		RunE: flags.run,
	}
	flags.add(cmd)
	return cmd
}

// attackFlags are the flags of the attack command.
type attackFlags struct {
	runner      attack.Runner
	only        []string
	targets     attackTargets
	budget      time.Duration
	jobs        int
	out, format string
	journal     string
	list        bool
	outcomes    cli.Outcomes
	unfit       []string // why the outcome of a worker is unreliable
	skipped     []string // workers that were not attacked
	interrupted func() bool
}

func (f *attackFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.targets.workers, "worker", nil, "`command` of a worker to attack, words separated by spaces; may be repeated")
	flags.StringArrayVar(&f.targets.options, "option", nil, "an option of the attacked design, as name=value; may be repeated")
	flags.BoolVar(&f.targets.sdks, "sdks", false, "attack the installed SDKs of other languages too")
	flags.BoolVar(&f.targets.libraries, "libraries", false, "attack the Go token libraries too")
	flags.BoolVar(&f.targets.controls, "controls", false, "attack the negative controls, which are broken on purpose, too")
	flags.StringArrayVar(&f.only, "only", nil, "attack or family of attacks to carry out, for example TAG-06 or TAG; may be repeated")
	flags.Uint64Var(&f.runner.Seed, "seed", 1, "seed of all random choices")
	flags.DurationVar(&f.budget, "budget", 90*time.Second, "time for each design, without up to two minutes for late answers; attacks that have not ended by then are not tested")
	flags.IntVar(&f.jobs, "jobs", 0, "processes of one worker to attack side by side (default 1, or one per processor if the worker has the ability \"parallel\")")
	flags.StringVar(&f.journal, "journal", "", "`file` to append results to after each attack, and to continue from")
	flags.StringVar(&f.format, "format", "text", "format of the findings on standard output: text, json, markdown or sarif")
	flags.StringVar(&f.out, "out", "", "folder of all results: findings, table and raw outcome go to a new folder in it")
	f.outcomes.AddFlags(cmd)
	flags.BoolVar(&f.list, "list", false, "list the attacks and exit")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cli.RenameFlag(cmd, "peers", "libraries")
}

// check returns an error if the flags are invalid.
func (f *attackFlags) check() (err error) {
	if err := checkForm(f.format); err != nil {
		return err
	}
	if f.budget <= 0 {
		return fmt.Errorf("--budget %s: want a positive duration", f.budget)
	}
	if f.jobs < 0 || f.jobs > 64 {
		return fmt.Errorf("--jobs %d: want 1 to 64", f.jobs)
	}
	if f.runner.Attacks, err = attack.Select(attacks.All(), f.only); err != nil {
		return err
	}
	return atomicfile.RequireWritable(f.out)
}

func (f *attackFlags) run(cmd *cobra.Command, names []string) error {
	if f.list {
		return listAttacks(cmd.OutOrStdout(), f.outcomes.AsJSON)
	}
	if err := f.check(); err != nil {
		return err
	}
	designs, stop, err := f.targets.open(names, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer stop()
	kept, err := openJournal(f.journal, f.runner.Seed)
	if err != nil {
		return err
	}
	ctx, done := cli.Interruptible(cmd)
	defer done()
	f.interrupted = func() bool { return ctx.Err() != nil }
	run := &verdict.Run{Format: verdict.Format, Seed: f.runner.Seed}
	for _, d := range designs {
		fit, skip := f.fit(d, cmd.ErrOrStderr())
		if skip {
			continue
		}
		outcome := f.attack(d, kept, cmd.ErrOrStderr())
		if fit {
			f.tellFaults(cmd.ErrOrStderr(), d, outcome)
		}
		run.Designs = append(run.Designs, outcome)
	}
	if len(run.Designs) == 0 {
		return errors.Join(f.requireFit(), kept.close())
	}
	out := f.outcomes.Begin(cmd)
	askAttacks(&f.outcomes, run)
	return f.outcomes.End(errors.Join(f.report(out, cmd.ErrOrStderr(), run), kept.close()))
}

// attack attacks one design within the time limit per design. A tenth of the
// time is reserved for reproducing findings.
func (f *attackFlags) attack(d *attack.Design, kept *journal, progress io.Writer) verdict.Design {
	copies, stop := f.sideBySide(d, progress)
	defer stop()
	began := time.Now()
	r := f.runner
	r.Budget = attack.DefaultBudget()
	r.Budget.Stopwatch = stopwatch(d.Worker != nil, began)
	used := func() time.Duration { return time.Since(began) - waitTime(copies) }
	r.Budget.Spent, r.Budget.Overdue = f.over(used, f.budget-f.budget/10), f.over(used, f.budget)
	r.Resume = func(id string) []verdict.Result { return kept.results(d, id) }
	r.Done = func(id string, results []verdict.Result, calls int) { kept.keep(d, id, results, calls) }
	bar := cli.NewProgress(progress)
	defer bar.End()
	if !bar.Terminal {
		fmt.Fprintf(progress, "attacking %s\n", d.Name)
	} else {
		r.Progress = func(_ string, n, of int) { bar.Show(d.Name, n, of) }
	}
	return r.Attack(copies...)
}

// errInterrupted is the reason for attacks that an interrupt skipped or ended.
var errInterrupted = errors.New("the run was interrupted")

// over returns a function that returns the reason why a run is over, or nil.
func (f *attackFlags) over(used func() time.Duration, limit time.Duration) func() error {
	inTime := attack.Within(used, limit)
	return func() error {
		if f.interrupted() {
			return errInterrupted
		}
		return inTime()
	}
}

// maxWaited is the maximum time by which late answers extend the attacks on a
// design.
const maxWaited = 2 * time.Minute

// waitTime returns the time that was spent waiting in vain for a copy of a
// design, averaged over the copies. It does not count against the time of the
// design, so that a call that hangs leaves time for the attacks.
func waitTime(copies []*attack.Design) time.Duration {
	var sum time.Duration
	for _, d := range copies {
		if d.Waited != nil {
			sum += d.Waited()
		}
	}
	return min(sum/time.Duration(len(copies)), maxWaited)
}

// sideBySide returns the copies of a design that are attacked in parallel, and
// a function that ends them.
func (f *attackFlags) sideBySide(d *attack.Design, notes io.Writer) ([]*attack.Design, func()) {
	copies := []*attack.Design{d}
	var ends []func()
	stop := func() {
		for _, end := range ends {
			end()
		}
	}
	if d.Worker == nil {
		return copies, stop
	}
	for len(copies) < f.targets.jobsOf(d, f.jobs) {
		another, err := subject.Dial(d.Worker, io.Discard)
		if err != nil {
			fmt.Fprintf(notes, "attacking with %d process(es): the next did not start: %v\n", len(copies), err)
			break
		}
		another.Options = d.Options
		ends = append(ends, another.End)
		f.targets.dialed = append(f.targets.dialed, another)
		copies = append(copies, another.Design)
	}
	return copies, stop
}

// stopwatch returns a function that returns the time that a design has worked.
// In this process that is processor time, which other programs do not affect.
// For a worker it is elapsed time.
func stopwatch(elsewhere bool, began time.Time) func() time.Duration {
	if _, ok := processorTime(); ok && !elsewhere {
		return func() time.Duration { spent, _ := processorTime(); return spent }
	}
	return func() time.Duration { return time.Since(began) }
}

// listAttacks prints every attack.
func listAttacks(w io.Writer, asJSON bool) error {
	d := cli.QuestionsDocument{Format: cli.QuestionsFormat, Command: "sealab attack"}
	t := table.New("llLLl").AtMargin()
	for _, a := range attacks.All() {
		var aims []string
		for _, p := range a.Refutes {
			aims = append(aims, string(p))
		}
		name := a.Name
		if a.Dropped != "" {
			name += " (not carried out: " + a.Dropped + ")"
		}
		d.Questions = append(d.Questions, cli.QuestionDocument{ID: a.ID, Name: a.Name, Layer: string(a.Layer), CWE: a.CWE, Properties: aims, Skipped: a.Dropped})
		t.Row(a.ID, string(a.Layer), fmt.Sprintf("CWE-%d", a.CWE), strings.Join(aims, ","), name)
	}
	return cli.WriteAs(w, asJSON, d, t.Write)
}
