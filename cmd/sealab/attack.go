package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/bench"
	"sealab/fuzz/attack"
	"sealab/internal/atomicfile"
	"sealab/internal/verdict"
)

func newAttackCommand() *cobra.Command {
	var flags attackFlags
	cmd := &cobra.Command{
		Use:   "attack [DESIGN...]",
		Short: "Attack what designs state of themselves",
		Long: `Carry the catalog of attacks out against designs, and print for each property of
each design whether it stands, is refuted, or was not exercised, and the findings.
Without a name every design of the catalog is attacked; --worker attacks a codec
or scheme in any language that speaks the worker protocol.

Everything is drawn from the seed. What is refuted was seen twice, and
"sealab replay" shows it again. The exit status is 1 when a property falls that
its design states; what falls without being stated is an observation.`,
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
}

func (f *attackFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.targets.workers, "worker", nil, "command of a worker to attack; may be repeated")
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
		outcome, err := f.attack(s, cmd.ErrOrStderr())
		if err != nil {
			return err
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
		c.Progress = func(id string, n, of int) { bar.show(bench.Progress{Stage: s.Name, Done: n, Total: of}) }
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

// forms write findings.
var forms = map[string]func(io.Writer, []findings.Finding) error{
	"text":     findings.Text,
	"json":     written(findings.JSON),
	"sarif":    written(findings.SARIF),
	"markdown": written(func(all []findings.Finding) ([]byte, error) { return findings.Markdown(all), nil }),
}

func written(form func([]findings.Finding) ([]byte, error)) func(io.Writer, []findings.Finding) error {
	return func(w io.Writer, all []findings.Finding) error {
		data, err := form(all)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
}

// report prints the outcome, writes it where asked, and judges.
func (f *attackFlags) report(w, notes io.Writer, run *verdict.Run) error {
	file := "findings.json"
	if f.out != "" {
		dir, err := runFolder(f.out)
		if err != nil {
			return err
		}
		file = filepath.Join(dir, file)
		if err := writeAttack(dir, run, findings.Of(run, file)); err != nil {
			return err
		}
		fmt.Fprintf(notes, "wrote %s\n", dir)
	}
	all := findings.Of(run, file)
	if f.format == "text" {
		if err := findings.Table(w, run); err != nil {
			return err
		}
	}
	if err := forms[f.format](w, all); err != nil {
		return err
	}
	if f.out == "" && f.format == "text" && len(all) > 0 {
		fmt.Fprintln(notes, "to replay findings, keep them: add --out results, or --format json > findings.json")
	}
	if findings.Accusing(all) {
		return errRefuted
	}
	return f.requireExercised(run)
}

// requireExercised is an error where every attack was to be carried out on a
// subject and none came to a token: it is no pass.
func (f *attackFlags) requireExercised(run *verdict.Run) error {
	if len(f.campaign.Only) > 0 {
		return nil
	}
	for _, s := range run.Subjects {
		if s.Calls == 0 {
			return fmt.Errorf("sealab: %s made no token and judged none; the table says why", s.Name)
		}
	}
	return nil
}

// runFolder returns the folder of a run of attacks that ends now.
func runFolder(root string) (string, error) {
	stamp, err := bench.NewStamp(time.Now(), "")
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "attack-"+stamp.Folder()), nil
}

// writeAttack writes a run's folder, whole or not at all.
func writeAttack(dir string, run *verdict.Run, all []findings.Finding) error {
	data, err := findings.JSON(all)
	if err != nil {
		return err
	}
	log, err := findings.SARIF(all)
	if err != nil {
		return err
	}
	raw, err := run.JSON()
	if err != nil {
		return err
	}
	return atomicfile.WriteFolder(dir, map[string][]byte{
		"findings.json": data, "findings.md": findings.Markdown(all), "findings.sarif": log,
		"table.md": findings.MarkdownTable(run), "verdicts.json": raw,
	})
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
