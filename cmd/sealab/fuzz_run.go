package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
)

func newFuzzRunCommand() *cobra.Command {
	var flags fuzzRunFlags
	cmd := &cobra.Command{
		Use:   "run [TARGET...]",
		Short: "Start a campaign, or go on with it",
		Long: `Run the targets, all by default, until the time is over or an interrupt. The
cores are shared among the targets by what still finds new coverage.

A failure does not stop anything: it is filed below crashers/ in the bucket of
its stack or message, once, with the input as found and made smaller, the
output, the command that reproduces it (reproduce.sh) and a test to commit.
Inputs that hang or take too much memory are kept as well.

Killed at any moment, the campaign goes on with the same command. Exit status 1
says that the folder holds crashers, old or new.`,
		Example: `  sealab fuzz run --for 72h
  sealab fuzz run text inside --workers 8 --http 127.0.0.1:8080
  make fuzz`,
		RunE: flags.run,
	}
	flags.add(cmd)
	return cmd
}

// fuzzRunFlags are the flags of the fuzz run command.
type fuzzRunFlags struct {
	campaignFolder
	config  campaign.Config
	limit   time.Duration
	address string
	hang    time.Duration
	memory  int
}

func (f *fuzzRunFlags) add(cmd *cobra.Command) {
	f.campaignFolder.add(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&f.limit, "for", 0, "how long to run (default until an interrupt)")
	flags.IntVar(&f.config.Workers, "workers", 0, "processes that run inputs at one time (default one for each core)")
	flags.DurationVar(&f.config.Slice, "slice", campaign.DefaultSlice, "how long a target runs before another takes its place, about")
	flags.StringVar(&f.config.Tags, "tags", "", "build tags, separated by commas")
	flags.StringVar(&f.address, "http", "", "serve the status page on this loopback address")
	flags.DurationVar(&f.hang, "hang", harness.DefaultHang, "an input that takes longer hangs; below the engine's ten seconds")
	flags.IntVar(&f.memory, "memory", harness.DefaultMemory, "MiB that a process may write to")
}

func (f *fuzzRunFlags) run(cmd *cobra.Command, names []string) error {
	if f.limit < 0 || f.hang <= 0 || f.hang >= 10*time.Second || f.memory <= 0 {
		return fmt.Errorf("sealab: --for %v, --hang %v, --memory %d: want positive values, and --hang under 10s", f.limit, f.hang, f.memory)
	}
	targets, err := fuzzTargets(names, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	if f.address != "" {
		if err := f.serve(ctx, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	c := f.config
	c.Dir, c.Targets, c.Now = f.dir, targets, time.Now
	c.Package, c.Replay, c.Cover = fuzzPackage, fuzzReplay, fuzzCoverage
	c.Env = []string{fmt.Sprintf("%s=%v", harness.EnvHang, f.hang), fmt.Sprintf("%s=%d", harness.EnvMemory, f.memory)}
	c.Log = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
	if err := f.campaign(ctx, c); err != nil {
		return err
	}
	return showStatus(cmd.OutOrStdout(), f.dir)
}

// campaign runs the campaign for its time. The time to build is not of it.
func (f *fuzzRunFlags) campaign(ctx context.Context, config campaign.Config) error {
	c, err := campaign.Open(ctx, config)
	if err != nil {
		return err
	}
	if f.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.limit)
		defer stop()
	}
	return errors.Join(c.Run(ctx), c.Close())
}

// serve serves the status page until ctx ends.
func (f *fuzzRunFlags) serve(ctx context.Context, stderr io.Writer) error {
	l, err := campaign.Listen(f.address)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "status on http://%s/\n", l.Addr())
	server := &http.Server{Handler: campaign.Handler(f.dir, time.Now), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(l) // ends with Close
	context.AfterFunc(ctx, func() { server.Close() })
	return nil
}
