package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

func newAttackCommand() *cobra.Command {
	var flags attackFlags
	cmd := &cobra.Command{
		Use:   "attack [DESIGN...]",
		Short: "Attack what designs state of themselves",
		Long: `Carry the catalog of attacks out against designs, and print for each property of
each design whether it stands, is refuted, or was not exercised, and the
findings. Without a name every design of the catalog is attacked; --worker
attacks a codec or scheme in any language that speaks the worker protocol.

Everything is drawn from the seed. What is refuted was seen twice, and
"sealab replay" shows it again. The exit status is 1 when a property falls that
its design states; what falls without being stated is an observation. It is 2
when a worker does not open an ordinary token of its own, which is tried first,
or breaks so often that it is no longer asked.`,
		Example: `  sealab attack
  sealab attack aes-256-gcm mcp-d
  sealab attack --worker "python3 worker.py" --seed 7
  sealab attack mcp-d --option bind=authSubjectAndTool
  sealab attack --worker "python3 worker.py" --format json > findings.json
  sealab attack --only ENC --only TAG-06 hmac-sha256
  sealab attack --sdks --peers --out results
  sealab attack --list`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	flags.add(cmd)
	return cmd
}

// attackFlags are the flags of the attack command.
type attackFlags struct {
	campaign    attack.Campaign
	targets     attackTargets
	budget      time.Duration
	out, format string
	list        bool
	unfit       []string // what keeps the outcome of a worker from being a pass
}

func (f *attackFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.targets.workers, "worker", nil, "command of a worker to attack, words parted by spaces; may be repeated")
	flags.StringArrayVar(&f.targets.options, "option", nil, "an option of what is attacked, as name=value; may be repeated")
	flags.BoolVar(&f.targets.sdks, "sdks", false, "attack the installed SDKs of other languages as well")
	flags.BoolVar(&f.targets.peers, "peers", false, "attack the Go token libraries as well")
	flags.BoolVar(&f.targets.controls, "controls", false, "attack the controls, which are broken on purpose, as well")
	flags.StringArrayVar(&f.campaign.Only, "only", nil, "attack or family of attacks to carry out, as TAG-06 or TAG; may be repeated")
	flags.Uint64Var(&f.campaign.Seed, "seed", 1, "seed of everything that is drawn")
	flags.DurationVar(&f.budget, "budget", time.Minute, "time for each design; what has not begun then is unexercised")
	flags.StringVar(&f.format, "format", "text", "form of the findings on standard output: text, json, markdown or sarif")
	flags.StringVar(&f.out, "out", "", "folder of all results: findings, table and raw outcome go to a new folder in it")
	flags.BoolVar(&f.list, "list", false, "list the attacks and attack nothing")
}

func (f *attackFlags) run(cmd *cobra.Command, names []string) error {
	if f.list {
		return listAttacks(cmd.OutOrStdout())
	}
	if _, ok := forms[f.format]; !ok {
		return fmt.Errorf("sealab: --format %q: want text, json, markdown or sarif", f.format)
	}
	if _, err := f.campaign.Select(); err != nil {
		return err
	}
	if f.out != "" {
		if err := requireWritable(f.out); err != nil {
			return err
		}
	}
	subjects, stop, err := f.targets.open(names, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer stop()
	run := &verdict.Run{Format: verdict.Format, Seed: f.campaign.Seed}
	for _, s := range subjects {
		fit := f.rehearse(s, cmd.ErrOrStderr())
		outcome, err := f.attack(s, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if fit {
			f.tellFaults(cmd.ErrOrStderr(), s, outcome)
		}
		run.Subjects = append(run.Subjects, outcome)
	}
	return f.report(cmd.OutOrStdout(), cmd.ErrOrStderr(), run)
}

// attack attacks one subject within the time for each.
func (f *attackFlags) attack(s *attack.Subject, progress io.Writer) (verdict.Subject, error) {
	began := time.Now()
	c := f.campaign
	c.Budget = attack.DefaultBudget()
	c.Budget.Stopwatch = stopwatch(s.Worker != nil, began)
	c.Budget.Spent = func() bool { return time.Since(began) > f.budget }
	bar := newProgress(progress)
	defer bar.end()
	if !bar.terminal {
		fmt.Fprintf(progress, "attacking %s\n", s.Name)
	} else {
		c.Progress = func(_ string, n, of int) { bar.show(s.Name, n, of) }
	}
	return c.Attack(s)
}

// stopwatch returns the time that a subject has worked: of one in this process
// what the processor spent, which other programs do not add to; of a worker what
// has passed.
func stopwatch(elsewhere bool, began time.Time) func() time.Duration {
	if _, ok := processorTime(); ok && !elsewhere {
		return func() time.Duration { spent, _ := processorTime(); return spent }
	}
	return func() time.Duration { return time.Since(began) }
}

// listAttacks prints the catalog of attacks.
func listAttacks(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range attack.Catalog() {
		var aims []string
		for _, p := range r.Refutes {
			aims = append(aims, string(p))
		}
		name := r.Name
		if r.Dropped != "" {
			name += " (not carried out: " + r.Dropped + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", r.ID, r.Layer, strings.Join(aims, ","), name)
	}
	return tw.Flush()
}
