package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"sealab/analysis/site"
)

func newSiteCommand() *cobra.Command {
	var from site.Source
	var out string
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Write pages of committed results",
		Long: `Write static pages of the newest run of each kind below --results: the designs
with their guarantees, the outcomes of attacks and a plot of time against size;
a page for each design; the benchmark with a comparison and a history; attacks,
a review and a fuzz campaign with their findings; the vectors; guides; and the
help of all commands. Each page is one file that makes no request.`,
		Example: `  sealab site --out site
  sealab site --vectors vectors/files --out site`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			commands, err := sitePages(cmd.Root())
			if err != nil {
				return err
			}
			from.Commands = commands
			if err := site.Write(from, out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "open %s\n", filepath.Join(out, "index.html"))
			return err
		},
	}
	cmd.Flags().StringVar(&from.Results, "results", resultsDir, "folder of all results")
	cmd.Flags().StringVar(&from.Vectors, "vectors", "", "folder of the files of vectors to publish (default none)")
	cmd.Flags().StringVar(&out, "out", "site", "new folder of the pages")
	return cmd
}
