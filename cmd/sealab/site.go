package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"sealab/analysis/site"
)

func newSiteCommand() *cobra.Command {
	var results, out string
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Write pages of committed results",
		Long: `Write static pages of the newest run of each kind below --results: the designs
with their guarantees, the outcomes of attacks and a plot of time against size;
a page for each design; the benchmark; and the findings. Each page is one file
that makes no request.`,
		Example: `  sealab site --out site`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := site.Write(results, out); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "open %s\n", filepath.Join(out, "index.html"))
			return err
		},
	}
	cmd.Flags().StringVar(&results, "results", resultsDir, "folder of all results")
	cmd.Flags().StringVar(&out, "out", "site", "new folder of the pages")
	return cmd
}
