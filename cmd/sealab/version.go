package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of sealab and of the toolchain that built it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return fmt.Errorf("sealab: this binary carries no build information")
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "sealab %s %s\n", info.Main.Version, info.GoVersion)
			return err
		},
	}
}
