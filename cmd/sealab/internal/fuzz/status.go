package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign/report"
	"sealab/internal/cli"
	"sealab/internal/runfile"
)

func newStatus() *cobra.Command {
	var folder campaignFolder
	var live, asJSON bool
	var address string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the progress of a campaign",
		Long: `Show executions, coverage, new inputs and crash buckets of a campaign, which
may be running. The exit status is 1 if there are crashers. With --http the same
is served as a page, and as JSON at /status.json.`,
		Example: `  sealab fuzz status
  sealab fuzz status --live
  sealab fuzz status --http 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := cli.Interruptible(cmd)
			defer stop()
			switch {
			case address != "":
				return serveStatus(ctx, cmd.ErrOrStderr(), folder.dir, address)
			case live:
				return watchStatus(ctx, cmd.OutOrStdout(), folder.dir)
			}
			return tellStatus(cmd.OutOrStdout(), folder.dir, asJSON)
		},
	}
	folder.add(cmd)
	cmd.Flags().BoolVar(&live, "live", false, "repeat every two seconds, until an interrupt")
	cmd.Flags().StringVar(&address, "http", "", "serve the status page on this loopback address, until an interrupt")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.MarkFlagsMutuallyExclusive("live", "http", "json")
	return cmd
}

// tellStatus writes the status of a campaign as a table or as JSON. It returns
// cli.ErrRefuted if there are crashers.
func tellStatus(w io.Writer, dir string, asJSON bool) error {
	status, err := report.ReadStatus(dir)
	if err != nil {
		return err
	}
	err = cli.WriteAs(w, asJSON, status, func(w io.Writer) error { return status.WriteTable(w, time.Now()) })
	if err == nil && len(status.Buckets()) > 0 {
		return cli.ErrRefuted
	}
	return err
}

// watchStatus shows the table every two seconds on a cleared screen.
func watchStatus(ctx context.Context, w io.Writer, dir string) error {
	again := time.NewTicker(2 * time.Second)
	defer again.Stop()
	for {
		fmt.Fprint(w, "\x1b[H\x1b[2J")
		if err := tellStatus(w, dir, false); err != nil && !errors.Is(err, cli.ErrRefuted) {
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
	if _, err := report.ReadStatus(dir); err != nil {
		return err
	}
	serve, err := statusServer(ctx, stderr, dir, address, time.Time{})
	if err != nil {
		return err
	}
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// statusServer listens for clients of the status page. It returns the function
// that serves the page until ctx ends. until is the end of the campaign, or
// zero if it has no end.
func statusServer(ctx context.Context, stderr io.Writer, dir, address string, until time.Time) (serve func() error, err error) {
	l, err := report.Listen(address)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "status on http://%s/\n", l.Addr())
	server := &http.Server{Handler: report.Handler(dir, time.Now, until), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	return func() error { return server.Serve(l) }, nil
}

func newReport() *cobra.Command {
	var folder campaignFolder
	var out string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write the results of a campaign, to keep with the code",
		Long: `Write a new folder with the results of a campaign, small enough to commit:

  report.md    for each target executions, executions a second, coverage, new
               inputs and crashers; the covered statements if "sealab fuzz
               cover" ran
  report.json  the same, with the curves as numbers
  pictures/    the curves

The stamp names the commit of this command. It is that of the code under test
only if both come from one tree, as with make fuzz.`,
		Example: `  sealab fuzz report --dir fuzz-campaign --out results`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stamp, err := runfile.NewStamp(time.Now(), "")
			if err != nil {
				return err
			}
			r, err := report.Read(folder.dir, report.Stamp{
				Commit: stamp.Commit, Dirty: stamp.Dirty, Host: stamp.Host, Toolchain: runtime.Version(),
				Processor: runfile.CPUName(), Cores: runtime.NumCPU(), Modules: stamp.Modules,
			})
			if err != nil {
				return err
			}
			dir := stamp.Dir(out, runfile.Fuzz)
			if err := r.Write(dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", dir)
			return err
		},
	}
	folder.add(cmd)
	cmd.Flags().StringVar(&out, "out", runfile.Results, "folder in which a new folder for the report is created")
	return cmd
}
