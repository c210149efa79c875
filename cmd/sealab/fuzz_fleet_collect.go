package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/fleet"
)

func newFleetCollectCommand() *cobra.Command {
	var folder campaignFolder
	cmd := &cobra.Command{
		Use:   "collect FLEET",
		Short: "Add what a fleet found to a campaign",
		Long: `Add the corpus that the coordinator in the folder FLEET has to the corpus of a
campaign, and run its crashers again to file them there. The fleet may run
meanwhile; the campaign may not. Exit status 1 says that the campaign has
crashers.`,
		Example: `  sealab fuzz fleet collect fuzz-fleet --dir fuzz-campaign`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return collectFleet(ctx, args[0], folder.dir, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	folder.add(cmd)
	return cmd
}

func collectFleet(ctx context.Context, from, dir string, stdout, stderr io.Writer) error {
	is, err := fleet.Read(from)
	if err != nil {
		return err
	}
	targets, err := fuzzTargets([]string{is.Target}, stderr)
	if err != nil {
		return err
	}
	inputs, found, err := fleet.Found(from)
	if err != nil {
		return err
	}
	var crashers []campaign.Foreign
	for _, k := range found {
		crashers = append(crashers, campaign.Foreign(k))
	}
	c, err := campaign.Open(ctx, campaign.Config{Dir: dir, Package: fuzzPackage, Replay: fuzzReplay, Cover: fuzzCoverage,
		Tags: strings.ReplaceAll(is.Tags, " ", ","), Targets: targets, Now: time.Now, Log: func(line string) { fmt.Fprintln(stderr, line) }})
	if err != nil {
		return err
	}
	n, err := c.Import(ctx, targets[0], inputs, crashers)
	if err := errors.Join(err, c.Close()); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s\n\n", is.Target, n)
	return showStatus(stdout, dir)
}
