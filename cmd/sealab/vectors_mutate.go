package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sealab/vectors/mutate"
)

func newVectorsMutateCommand() *cobra.Command {
	var dir, root string
	cmd := &cobra.Command{
		Use:   "mutate",
		Short: "Disable each check of the designs in turn, and see that a vector notices",
		Long: `Find every check in the designs that refuses something, disable one at a time in
a build with an overlay, and see whether a committed vector notices. Needs the Go
toolchain and the sources. Prints each check that no vector guards, with the
reason where it is known that none can, and how many there are.

Exit status 1 says that a check is unguarded for no known reason.`,
		Example: "  sealab vectors mutate",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			work, err := os.MkdirTemp("", "sealab-mutate-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(work)
			build, err := mutate.Prepare(root, work)
			if err != nil {
				return err
			}
			results, err := build.Run(abs, time.Minute)
			if err != nil {
				return err
			}
			s := mutate.Sum(results)
			for _, r := range s.Open {
				fmt.Fprintf(cmd.OutOrStdout(), "unguarded: %s:%d: %s: %s\n", r.File, r.Line, r.Func, r.Text)
			}
			for _, r := range s.Excused {
				fmt.Fprintf(cmd.OutOrStdout(), "no vector can tell: %s:%d: %s: %s: %s\n", r.File, r.Line, r.Func, r.Text, mutate.Excuses[r.Key()])
			}
			for _, key := range s.Stale {
				fmt.Fprintf(cmd.OutOrStdout(), "excused and not unguarded: %s\n", key)
			}
			fmt.Fprintln(cmd.OutOrStdout(), s)
			if len(s.Open)+len(s.Stale) > 0 {
				return errRefuted
			}
			return nil
		},
	}
	addDirFlag(cmd, &dir)
	cmd.Flags().StringVar(&root, "root", ".", "the root of the module")
	return cmd
}
