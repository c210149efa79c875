package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sealab/internal/cli"
	"sealab/vectors/mutate"
)

func newVectorsMutateCommand() *cobra.Command {
	var dir, root string
	cmd := &cobra.Command{
		Use:   "mutate",
		Short: "Disable each check of the designs in turn, and see that a vector notices",
		Long: `Find every check in the designs that refuses something, disable one at a time in
a build with an overlay, and see whether a committed vector notices. Needs the
Go toolchain and the sources. Prints each check that no vector guards, with the
reason where it is known that none can, and how many there are.

Exit status 1 says that a check is unguarded for no known reason.`,
		Example: "  sealab vectors mutate",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			results, err := mutateAll(root, dir)
			if err != nil {
				return err
			}
			return reportMutations(cmd.OutOrStdout(), mutate.Sum(results))
		},
	}
	addDirFlag(cmd, &dir)
	cmd.Flags().StringVar(&root, "root", ".", "the root of the module")
	return cmd
}

// mutateAll disables each check of the module at root in turn and gives the
// vectors in dir to what is left.
func mutateAll(root, dir string) ([]mutate.Result, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	work, err := os.MkdirTemp("", "sealab-mutate-")
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	defer os.RemoveAll(work)
	build, err := mutate.Prepare(root, work)
	if err != nil {
		return nil, err
	}
	return build.Run(abs, time.Minute)
}

// reportMutations prints the checks that no vector guards, and fails with
// cli.ErrRefuted unless there is a known reason for each.
func reportMutations(out io.Writer, s *mutate.Summary) error {
	for _, r := range s.Open {
		fmt.Fprintf(out, "unguarded: %s:%d: %s: %s\n", r.File, r.Line, r.Func, r.Text)
	}
	for _, r := range s.Excused {
		fmt.Fprintf(out, "no vector can tell: %s:%d: %s: %s: %s\n", r.File, r.Line, r.Func, r.Text, mutate.Excuses[r.Key()])
	}
	for _, key := range s.Stale {
		fmt.Fprintf(out, "excused and not unguarded: %s\n", key)
	}
	fmt.Fprintln(out, s)
	if len(s.Open)+len(s.Stale) > 0 {
		return cli.ErrRefuted
	}
	return nil
}
