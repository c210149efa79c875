// Package vectors holds the command "vectors".
package vectors

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"sealab/vectors"
	"sealab/vectors/generate"
)

// New returns the command "vectors" and its subcommands.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vectors",
		Short: "Make and verify test vectors of every design",
		Long: `Make and verify test vectors: for each design the tokens that an implementation
must accept, and those that it must refuse and at which stage. The format is
sealab-vectors/1; vectors/README.md explains it.`,
	}
	cmd.AddCommand(
		newGenerate(),
		newVerify(),
		newExport(),
		newDist(),
		newMutate(),
	)
	return cmd
}

// addDirFlag adds the flag for the folder of vector files.
func addDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", vectors.Folder, "`folder` of the vector files")
}

// requireCount returns an error if there is no digest for that number of
// inputs.
func requireCount(accumulate int) error {
	if accumulate != 0 && !slices.Contains(generate.DigestCounts, accumulate) {
		return fmt.Errorf("--accumulate %d: want 0, or one of %v", accumulate, generate.DigestCounts)
	}
	return nil
}

// firstSecret returns the key named k1 in a vector file.
func firstSecret(f *vectors.File) ([]byte, error) {
	const name = "k1"
	k, ok := f.Keys[name]
	if !ok {
		return nil, fmt.Errorf("the vectors of %s have no key %q", f.Design, name)
	}
	return k, nil
}
