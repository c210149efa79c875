package vectors

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sealab/internal/cli"
	"sealab/vectors/mutate"
)

func newMutate() *cobra.Command {
	var dir, root string
	var asked cli.Outcomes
	cmd := &cobra.Command{
		Use:   "mutate [FOLDER...]",
		Short: "Disable each check of the designs in turn: a vector must fail",
		Long: `Find every check of the designs, or of the given folders of the module, that
refuses input. Disable one at a time in a build with an overlay, and run the
committed vectors against it (mutation testing). The command needs the Go
toolchain and the sources.

A check is guarded if a vector fails without it. It is redundant if it refuses
vectors, and another check refuses them for the same reason. It is idle if it
refuses no vector. Idle checks are printed, with the reason of their mark
(//mutant:equivalent) if they have one.

Exit status: 1 if an idle check has no mark, or a marked check is not idle.`,
		Example: `  sealab vectors mutate
  sealab vectors mutate codecs/claims codecs/internal/layouts`,
		RunE: func(cmd *cobra.Command, folders []string) error {
			ctx, stop := cli.Interruptible(cmd)
			defer stop()
			results, err := mutateAll(ctx, root, dir, folders)
			if err != nil {
				return err
			}
			s, w := mutate.Sum(results), asked.Begin(cmd)
			s.Ask(asked.Ask)
			return asked.End(reportMutations(w, s))
		},
	}
	addDirFlag(cmd, &dir)
	asked.AddFlags(cmd)
	cmd.Flags().StringVar(&root, "root", ".", "root `folder` of the module")
	return cmd
}

// mutateAll disables each check in the folders, or in the whole module at root,
// one at a time, and runs the vectors in dir.
func mutateAll(ctx context.Context, root, dir string, folders []string) ([]mutate.Result, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "sealab-mutate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	build, err := mutate.Prepare(ctx, root, work, folders...)
	if err != nil {
		return nil, err
	}
	return build.Run(ctx, abs)
}

// reportMutations prints the checks without a vector that needs them. It fails
// with cli.ErrRefuted unless each has a known reason.
func reportMutations(out io.Writer, s *mutate.Summary) error {
	for _, r := range s.Open {
		fmt.Fprintf(out, "idle: %s:%d: %s: %s\n", r.File, r.Line, r.Func, r.Text)
	}
	for _, r := range s.Excused {
		fmt.Fprintf(out, "no vector can reach: %s:%d: %s: %s: %s\n", r.File, r.Line, r.Func, r.Text, r.Mark.Reason)
	}
	for _, m := range s.Stale {
		fmt.Fprintf(out, "marked, and not idle: %s:%d: %s\n", m.File, m.Line, m.Reason)
	}
	fmt.Fprintln(out, s)
	if len(s.Open)+len(s.Stale) > 0 {
		return cli.ErrRefuted
	}
	return nil
}
