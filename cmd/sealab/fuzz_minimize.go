package main

import (
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
)

func newFuzzMinimizeCommand() *cobra.Command {
	var folder campaignFolder
	cmd := &cobra.Command{
		Use:   "minimize [TARGET...]",
		Short: "Keep of a corpus what covers all that it covers",
		Long: `Run every input of the corpora, of all targets by default, and keep a small set
that together runs every statement as often, to a power of two, as all of them
do. Inputs that fail are kept, and so are those that a crasher was made of.`,
		Example: `  sealab fuzz minimize --dir campaign text`,
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			results, err := campaign.Minimize(ctx, folder.dir, names, time.Now)
			for _, r := range results {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: kept %d of %d inputs, which cover %d features\n", r.Target.Name, r.Kept, r.Inputs, r.Features)
			}
			return err
		},
	}
	folder.add(cmd)
	return cmd
}
