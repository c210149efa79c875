package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"sealab/analysis/throughput"
)

func newReportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN",
		Short: "Print what a run of the benchmark shows",
		Long: `Print the tables and the verdicts of a run that "sealab bench" wrote. RUN is
its folder. The report follows from the files alone.`,
		Example: `  sealab report results/20261120T101500Z-0123456789-h1a2b3c4d`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := throughput.Load(args[0])
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w; want the folder of a run of sealab bench", err)
			}
			if err != nil {
				return err
			}
			return run.Report(cmd.OutOrStdout())
		},
	}
}
