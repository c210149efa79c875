package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of sealab and of the toolchain that built it",
		Long: `Print the version of sealab, the commit where the build knows it, and the
toolchain and machine it was built for. What a build leaves out is left out:
"go run" and -buildvcs=false name no commit.`,
		Example: `  sealab version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "sealab %s%s %s %s/%s\n",
				moduleVersion(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// moduleVersion returns the version that this binary was built from.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// commit returns the commit that this binary was built from, between brackets
// and after a space, or nothing where the build does not know.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	known := map[string]string{}
	for _, s := range info.Settings {
		known[s.Key] = s.Value
	}
	parts := []string{"commit " + known["vcs.revision"]}
	if known["vcs.revision"] == "" {
		return ""
	}
	if known["vcs.modified"] == "true" {
		parts = append(parts, "modified")
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
