package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
)

func newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the designs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, d := range catalog.All() {
				fmt.Fprintf(w, "%s\t%s\n", d.Name, d.Doc)
			}
			return w.Flush()
		},
	}
}
