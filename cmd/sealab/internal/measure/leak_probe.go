package measure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	analysis "sealab/analysis/timing"
	"sealab/bench/timing"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// The sets of comparisons of a run.
const (
	setAll    = "all"
	setLadder = "ladder"
	setAlike  = "alike"
	setRemote = "remote"
)

// equalControls is the number of equal controls in the set of that name.
const equalControls = 200

func newLeakProbe() *cobra.Command {
	var flags leakProbeFlags
	cmd := &cobra.Command{
		Use:   "probe DIR",
		Short: "Measure pairs of inputs that must take the same time",
		Long: fmt.Sprintf(`Measure, for every design, pairs of inputs that must take the same time, and the
controls beside them, twice each, and write the samples to DIR. "sealab leak
judge" judges them.

To continue a run that was stopped, start it again with the same folder and
flags. Slow designs get as many blocks as fit into --budget. The machine should
have nothing else to do.

  --set %-7s every design, and every control
  --set %-7s controls with known delays: the smallest that this machine sees
  --set %-7s %d controls whose classes are the same: their p-values must be
                uniform
  --set %-7s a server at --url that behaves as "sealab serve --http" does,
                and controls over HTTP; judge with --limit %d`, setAll, setLadder, setAlike, equalControls, setRemote, analysis.LimitLocal),
		Example: `  sealab leak probe results/timing/run
  sealab leak probe --subject aes-256-gcm --blocks 1000000 --budget 1m results/timing/gcm
  sealab leak probe --set ladder results/timing/ladder
  sealab leak probe --set remote --url http://localhost:8080/mcp --budget 30s results/timing/remote`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(args[0], cli.NewProgress(cmd.ErrOrStderr()), cmd.OutOrStdout())
		},
	}
	flags.add(cmd)
	cli.AddJSONFlag(cmd, &flags.json)
	return cmd
}

// leakProbeFlags are the flags of the probe command.
type leakProbeFlags struct {
	set, url string
	host     string
	subjects []string
	blocks   int
	budget   time.Duration
	seed     uint64
	json     bool
}

func (f *leakProbeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.set, "set", setAll, "set of comparisons to measure")
	flags.StringVar(&f.url, "url", "", "URL of the server of the set remote")
	flags.StringSliceVar(&f.subjects, "subject", nil, "designs to measure beside the controls, by name (default all)")
	flags.IntVar(&f.blocks, "blocks", 100_000, "number of blocks for each pair and pass")
	flags.DurationVar(&f.budget, "budget", 2*time.Second, "time for each pair and pass, without preparation")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of keys, inputs and order")
	flags.StringVar(&f.host, "host", "", "name of this machine in the results (default a digest of its name)")
}

func (f *leakProbeFlags) run(dir string, progress *cli.Progress, out io.Writer) error {
	if f.blocks < 1 || f.budget <= 0 {
		return fmt.Errorf("--blocks %d and --budget %v: want positive values", f.blocks, f.budget)
	}
	comparisons, err := f.comparisons()
	if err != nil {
		return err
	}
	stamp, err := f.stamp()
	if err != nil {
		return err
	}
	measured, skipped := 0, map[string]string{}
	err = timing.Run(comparisons, timing.Config{Dir: dir, Blocks: f.blocks, Budget: f.budget, Seed: f.seed, Stamp: stamp}, func(s timing.Step) {
		progress.Show("probing", s.Done, s.Of)
		if s.Skipped == "" {
			measured++
		} else {
			skipped[s.Name()] = s.Skipped
		}
	})
	progress.End()
	if err != nil {
		return err
	}
	d := ProbeDocument{Format: ProbeFormat, Run: dir, Passes: measured, Skipped: []skippedDocument{}}
	for _, t := range comparisons {
		if why := skipped[t.Name()]; why != "" {
			d.Skipped = append(d.Skipped, skippedDocument{t.Name(), why})
		}
	}
	return cli.WriteAs(out, f.json, d, d.writeText)
}

// ProbeFormat is the name of the format of a ProbeDocument.
const ProbeFormat = "sealab-leak-probe/1"

// A ProbeDocument is the JSON output of "leak probe": the files that it wrote.
type ProbeDocument struct {
	Format  string            `json:"format"`
	Run     string            `json:"run"`    // its folder
	Passes  int               `json:"passes"` // measured in this call
	Skipped []skippedDocument `json:"skipped"`
}

type skippedDocument struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (d ProbeDocument) writeText(out io.Writer) error {
	fmt.Fprintf(out, "%d passes measured into %s\n", d.Passes, d.Run)
	for _, s := range d.Skipped {
		fmt.Fprintf(out, "skipped: %s: %s\n", s.Name, s.Reason)
	}
	return nil
}

// comparisons returns the comparisons that the flags select.
func (f *leakProbeFlags) comparisons() ([]timing.Comparison, error) {
	switch f.set {
	case setLadder:
		return timing.Ladder(), nil
	case setAlike:
		var comparisons []timing.Comparison
		for i := range equalControls {
			comparisons = append(comparisons, timing.SameClass(fmt.Sprintf("alike-%03d", i+1)))
		}
		return comparisons, nil
	case setRemote:
		if f.url == "" {
			return nil, fmt.Errorf("--set %s needs --url", setRemote)
		}
		return timing.Remote(f.url), nil
	case setAll:
		designs := catalog.All()
		for _, name := range f.subjects {
			if _, err := catalog.Find(name); err != nil {
				return nil, err
			}
		}
		if len(f.subjects) > 0 {
			designs = slices.DeleteFunc(designs, func(d codecs.Design) bool { return !slices.Contains(f.subjects, d.Name) })
		}
		return append(timing.Controls(), timing.Designs(designs)...), nil
	}
	return nil, fmt.Errorf("--set %q: want %s, %s, %s or %s", f.set, setAll, setLadder, setAlike, setRemote)
}

// stamp returns the settings that must match if a run is resumed.
func (f *leakProbeFlags) stamp() (map[string]string, error) {
	s, err := runfile.NewStamp(time.Now(), f.host)
	return map[string]string{
		"commit": s.Commit, "dirty": strconv.FormatBool(s.Dirty), "host": s.Host,
		"toolchain": runtime.Version(), "goarch": runtime.GOARCH, "cpus": strconv.Itoa(runtime.NumCPU()),
		"set": f.set, "blocks": strconv.Itoa(f.blocks), "budget": f.budget.String(), "seed": strconv.FormatUint(f.seed, 10),
	}, err
}

func newLeakRecover() *cobra.Command {
	var seed uint64
	var samples int
	var asked cli.Outcomes
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Forge a token from timings, against a comparison that ends early",
		Long: `Forge a token against a control in this process. The control compares tags in
hexadecimal, in either case, and stops at the first digit that differs. Find the
tag digit by digit from the time of refusals, and present it. The command shows
the impact of a leak; it attacks only this control.

It takes some minutes on a machine with nothing else to do. The exit status is 1
if the forged token verifies, which refutes the control, and 2 if no tag was
found.`,
		Example: `  sealab leak recover
  sealab leak recover --seed 7 --samples 200000000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return leakRecover(cmd, &asked, seed, samples) },
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the server's key and of the attacker's choices")
	cmd.Flags().IntVar(&samples, "samples", 200_000_000, "give up after this `number` of measurements")
	asked.AddFlags(cmd)
	return cmd
}

func leakRecover(cmd *cobra.Command, asked *cli.Outcomes, seed uint64, samples int) error {
	if samples < 1 {
		return fmt.Errorf("--samples %d: want at least 1", samples)
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	r, err := timing.Recover(seed, samples, func(known, of int, _ timing.Recovery) {
		progress.Show("recovering", known, of)
	})
	progress.End()
	out := asked.Begin(cmd)
	const subject, name = "comparison that ends early", "forge a token by timing"
	fmt.Fprintf(out, "%d samples, %d tokens presented, %d digits given up again\n", r.Samples, r.Ops, r.StepBack)
	if errors.Is(err, timing.ErrTooManySamples) {
		failed := errors.New("not tested: no tag found; the machine is too noisy or --samples too small")
		asked.Ask(subject, name, verdict.NotTested, failed.Error())
		return asked.End(failed)
	}
	if err != nil {
		return err
	}
	token := base64.RawURLEncoding.EncodeToString(r.Message) + "." + string(r.Tag)
	fmt.Fprintf(out, "the forged token verifies: %s\n", token)
	asked.Ask(subject, name, verdict.Refuted, "the forged token verifies: "+token)
	return asked.End(cli.ErrRefuted)
}
