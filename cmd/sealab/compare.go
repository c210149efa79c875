package main

import (
	"github.com/spf13/cobra"

	"sealab/analysis/throughput"
	"sealab/internal/cli"
)

func newCompareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two runs of the benchmark",
		Long: `Compare two runs of the benchmark, each a folder that "sealab bench" wrote or a
file in the Go benchmark format, and print what changed.

The exit status is 1 when a design takes longer by more than the noise floor, or
allocates more, or has longer tokens. The noise floor is the larger of two
shares: how much a subject differs from itself in the older run, and how much
the bare primitives changed between the runs.`,
		Example: `  sealab compare results/20261120T101500Z-0123456789-h1a2b3c4d results/20261121T091000Z-abcdef0123-h1a2b3c4d`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := throughput.Compare(args[0], args[1])
			if err != nil {
				return err
			}
			c.Report(cmd.OutOrStdout())
			if len(c.Regressed()) > 0 {
				return cli.ErrRefuted
			}
			return nil
		},
	}
}
