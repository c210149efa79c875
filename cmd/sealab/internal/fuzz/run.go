package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/internal/cli"
)

func newRun() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [TARGET...]",
		Short: "Start or resume a campaign",
		Long: `Run the targets, all by default, until the time of --for ends or an interrupt.
Targets that find new coverage get more time.

A failure does not stop the campaign. It is filed once, below crashers/ in the
bucket of its check or stack, with the input as found and minimized, the output,
the command that reproduces it (reproduce.sh) and a test to commit. Inputs that
hang or use too much memory are kept as well.

After an interrupt or a kill the same command resumes. Exit status: 1 if the
folder contains crashers, old or new; 2 for a fault, or if an interrupt ended
the campaign before the time of --for.`,
		Example: `  sealab fuzz run --for 72h
  sealab fuzz run text inside --workers 8 --http 127.0.0.1:8080
  make fuzz`,
		RunE: flags.run,
	}
	flags.add(cmd)
	return cmd
}

// runFlags are the flags of the fuzz run command.
type runFlags struct {
	campaignFolder
	workers int
	slice   time.Duration
	tags    string
	limit   time.Duration
	address string
	hang    time.Duration
	memory  int
	json    bool
}

func (f *runFlags) add(cmd *cobra.Command) {
	f.campaignFolder.add(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&f.limit, "for", 0, "time to run (default: until an interrupt)")
	flags.IntVar(&f.workers, "workers", 0, "processes that run inputs at the same time (default: one for each core)")
	flags.DurationVar(&f.slice, "slice", campaign.DefaultSlice, "approximate time that a target runs before the next")
	flags.StringVar(&f.tags, "tags", "", "build tags, separated by commas")
	flags.BoolVar(&f.json, "json", false, "write the status at the end as JSON")
	flags.StringVar(&f.address, "http", "", "serve the status page on this loopback address")
	flags.DurationVar(&f.hang, "hang", harness.DefaultHang, "time limit of one input, below the ten seconds of the engine")
	flags.IntVar(&f.memory, "memory", harness.DefaultMemory, "memory limit of a process in MiB")
}

func (f *runFlags) run(cmd *cobra.Command, names []string) error {
	if f.limit < 0 || f.hang <= 0 || f.hang >= 10*time.Second || f.memory <= 0 {
		return fmt.Errorf("--for %v, --hang %v, --memory %d: want positive values, and --hang under 10s", f.limit, f.hang, f.memory)
	}
	targets, err := targetsOf(names, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(cmd)
	defer stop()
	if f.address != "" {
		serve, err := statusServer(ctx, cmd.ErrOrStderr(), f.dir, f.address, f.until())
		if err != nil {
			return err
		}
		go serve() // ends with ctx
	}
	c := f.campaignFolder.config()
	c.Workers, c.Slice, c.Tags, c.Targets = f.workers, f.slice, f.tags, targets
	c.Env = []string{fmt.Sprintf("%s=%v", harness.EnvHang, f.hang), fmt.Sprintf("%s=%d", harness.EnvMemory, f.memory)}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	c.Log = bar.Note
	err = f.campaign(ctx, c, bar)
	if err == nil {
		err = tellStatus(cmd.OutOrStdout(), f.dir, f.json)
	}
	return f.end(cmd.ErrOrStderr(), ctx.Err() != nil, err)
}

// end returns the outcome of a campaign that ended with failed, and prints a
// message if it was interrupted.
func (f *runFlags) end(stderr io.Writer, interrupted bool, failed error) error {
	if !interrupted {
		return failed
	}
	kept := fmt.Sprintf("everything is kept in %s, and the same command resumes", f.dir)
	switch {
	case failed != nil && !errors.Is(failed, cli.ErrRefuted):
		return fmt.Errorf("interrupted: %s: %w", kept, failed)
	case failed == nil && f.limit > 0:
		return fmt.Errorf("interrupted before the end of --for %v: %s", f.limit, kept)
	default:
		fmt.Fprintf(stderr, "interrupted: %s\n", kept)
		return failed
	}
}

// campaign runs the campaign for its time, which does not include the build.
func (f *runFlags) campaign(ctx context.Context, config campaign.Config, bar *cli.Progress) error {
	c, err := campaign.Open(ctx, config)
	if err != nil {
		return err
	}
	if f.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.limit)
		defer stop()
		go f.showLeft(ctx, bar)
	}
	return errors.Join(c.Run(ctx), c.Close())
}

// until returns the end of a campaign that starts now, or zero if it has no
// end.
func (f *runFlags) until() time.Time {
	if f.limit == 0 {
		return time.Time{}
	}
	return time.Now().Add(f.limit)
}

// showLeft shows the time left until ctx ends.
func (f *runFlags) showLeft(ctx context.Context, bar *cli.Progress) {
	began, again := time.Now(), time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			bar.End()
			return
		case <-again.C:
			bar.Show("fuzzing", int(time.Since(began).Seconds()), int(f.limit.Seconds()))
		}
	}
}
