package main

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/internal/atomicfile"
)

func newFuzzCoverCommand() *cobra.Command {
	var folder campaignFolder
	cmd := &cobra.Command{
		Use:   "cover [TARGET...]",
		Short: "Show which statements the corpora of a campaign run",
		Long: `Run the seeds and corpora, of all targets by default, and show the share of
statements of each package under test that they run. The profile is written to
cover.out in the campaign's folder, for "go tool cover -html", and the table to
cover.txt, for "sealab fuzz report".`,
		Example: `  sealab fuzz cover --dir campaign
  go tool cover -html campaign/cover.out`,
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			profile, err := campaign.Cover(ctx, folder.dir, names, time.Now)
			if err != nil {
				return err
			}
			if err := profile.Write(filepath.Join(folder.dir, "cover.out")); err != nil {
				return err
			}
			var table bytes.Buffer
			if err := profile.WriteTable(&table); err != nil {
				return err
			}
			if _, err := cmd.OutOrStdout().Write(table.Bytes()); err != nil {
				return fmt.Errorf("sealab: %w", err)
			}
			return atomicfile.Write(filepath.Join(folder.dir, campaign.CoverTable), table.Bytes())
		},
	}
	folder.add(cmd)
	return cmd
}
