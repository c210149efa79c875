package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sealab/fuzz/fleet"
	"sealab/fuzz/target"
	"sealab/internal/loopback"
)

// fleetPackage has the targets as go-fuzz takes them.
const fleetPackage = "sealab/fuzz/gofuzz"

func newFleetCoordinatorCommand() *cobra.Command {
	var flags coordinatorFlags
	cmd := &cobra.Command{
		Use:   "coordinator TARGET",
		Short: "Build the archive, and coordinate workers until an interrupt",
		Long: `Build the instrumented archive and go-fuzz in a folder, print the command that a
worker runs, and coordinate workers until an interrupt. With a folder that is
there, go on.`,
		Example: `  sealab fuzz fleet coordinator text --dir fleet --http 127.0.0.1:7071`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return flags.run(ctx, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.add(cmd)
	return cmd
}

// coordinatorFlags are the flags of the fuzz fleet coordinator command.
type coordinatorFlags struct {
	dir, listen, page, tags string
	trusted                 bool
}

func (f *coordinatorFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", "fuzz-fleet", "folder of the coordinator")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7070", "address that workers connect to")
	flags.StringVar(&f.page, "http", "", "serve the status page of go-fuzz on this address")
	flags.StringVar(&f.tags, "tags", "", "build tags, separated by spaces")
	flags.BoolVar(&f.trusted, "trust-network", false, "allow other addresses than loopback: everybody who reaches them is trusted")
}

func (f *coordinatorFlags) run(ctx context.Context, name string, stdout, stderr io.Writer) error {
	for _, address := range []string{f.listen, f.page} {
		if address == "" || f.trusted {
			continue
		}
		if err := loopback.Check(address); err != nil {
			return err
		}
	}
	t, err := target.Find(name)
	if err != nil {
		return err
	}
	seeds, err := t.Seeds()
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: building the archive, which takes minutes, or going on with the one that is there\n", f.dir)
	is, err := fleet.Prepare(ctx, f.dir, fleet.Fleet{Target: t.Name, Function: t.NativeName(), Package: fleetPackage, Tags: f.tags}, seeds)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "workers run: sealab fuzz fleet worker %s --archive %s --sha256 %s\n", f.listen, fleet.Archive(f.dir), is.SHA256)
	return fleet.Coordinate(ctx, f.dir, f.listen, f.page, stderr)
}
