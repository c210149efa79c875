package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/internal/cli"
)

func newFuzzStatusCommand() *cobra.Command {
	var folder campaignFolder
	var live bool
	var address string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far a campaign has come",
		Long: `Show executions, coverage, new inputs and crashers of a campaign, whether it
runs or not. Exit status 1 says that there are crashers.`,
		Example: `  sealab fuzz status --dir campaign
  sealab fuzz status --live
  sealab fuzz status --http 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			switch {
			case address != "":
				return serveStatus(ctx, cmd.ErrOrStderr(), folder.dir, address)
			case live:
				return watchStatus(ctx, cmd.OutOrStdout(), folder.dir)
			}
			return showStatus(cmd.OutOrStdout(), folder.dir)
		},
	}
	folder.add(cmd)
	cmd.Flags().BoolVar(&live, "live", false, "show it again every two seconds, until an interrupt")
	cmd.Flags().StringVar(&address, "http", "", "serve the status page on this loopback address, until an interrupt")
	cmd.MarkFlagsMutuallyExclusive("live", "http")
	return cmd
}

// showStatus writes the table, and returns cli.ErrRefuted where there are crashers.
func showStatus(w io.Writer, dir string) error {
	status, err := campaign.ReadStatus(dir)
	if err != nil {
		return err
	}
	if err := status.WriteTable(w, time.Now()); err != nil {
		return err
	}
	if status.Crashers() > 0 {
		return cli.ErrRefuted
	}
	return nil
}

// watchStatus shows the table again and again, on a cleared screen.
func watchStatus(ctx context.Context, w io.Writer, dir string) error {
	again := time.NewTicker(2 * time.Second)
	defer again.Stop()
	for {
		fmt.Fprint(w, "\x1b[H\x1b[2J")
		if err := showStatus(w, dir); err != nil && !errors.Is(err, cli.ErrRefuted) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

func serveStatus(ctx context.Context, stderr io.Writer, dir, address string) error {
	if _, err := campaign.ReadStatus(dir); err != nil {
		return err
	}
	l, err := campaign.Listen(address)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "status on http://%s/\n", l.Addr())
	server := &http.Server{Handler: campaign.Handler(dir, time.Now), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}
