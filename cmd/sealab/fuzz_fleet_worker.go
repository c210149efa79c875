package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"sealab/fuzz/fleet"
)

func newFleetWorkerCommand() *cobra.Command {
	var w fleet.Worker
	cmd := &cobra.Command{
		Use:   "worker ADDRESS",
		Short: "Run inputs for a coordinator until an interrupt",
		Long: `Check that the archive is the coordinator's, build go-fuzz, and run inputs for
the coordinator at ADDRESS until an interrupt. A worker that ended comes back
with the same command; the coordinator counts the dead one for five more
minutes.`,
		Example: `  sealab fuzz fleet worker 127.0.0.1:7070 --archive archive.zip --sha256 2c26b46b...`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Address = args[0]
			if w.Tests < 1 {
				return fmt.Errorf("sealab: --tests %d: want at least 1", w.Tests)
			}
			if err := fleet.CheckArchive(w.Archive, w.SHA256); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if err := fleet.Engine(ctx, w.Dir); err != nil {
				return err
			}
			return w.Run(ctx, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.Dir, "dir", "fuzz-worker", "folder of the worker")
	flags.StringVar(&w.Archive, "archive", "", "copy of the coordinator's archive")
	flags.StringVar(&w.SHA256, "sha256", "", "what the coordinator printed")
	flags.IntVar(&w.Tests, "tests", runtime.NumCPU(), "processes that run inputs")
	cmd.MarkFlagRequired("archive")
	cmd.MarkFlagRequired("sha256")
	return cmd
}
