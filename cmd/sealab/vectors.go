package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/vectors"
)

func newVectorsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vectors",
		Short: "Make and verify test vectors of every design",
		Long: `Make and verify test vectors: for each design the tokens that an implementation
must accept, and those that it must refuse and at which stage. The format is
sealab-vectors/1; vectors/README.md explains it.`,
	}
	cmd.AddCommand(
		newVectorsGenerateCommand(),
		newVectorsVerifyCommand(),
		newVectorsExportCommand(),
		newVectorsDistCommand(),
		newVectorsMutateCommand(),
	)
	return cmd
}

// addDirFlag adds the flag for the folder of the vector files.
func addDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", vectors.Folder, "`folder` of the vector files")
}

// designsNamed returns the designs of the catalog with the given names, or all.
func designsNamed(names []string) ([]codecs.Design, error) {
	if len(names) == 0 {
		return catalog.Formats(), nil
	}
	var designs []codecs.Design
	for _, name := range names {
		d, err := catalog.Find(name)
		if err != nil {
			return nil, err
		}
		designs = append(designs, d)
	}
	return designs, nil
}

// vectorFiles returns the given files, or those in dir.
func vectorFiles(given []string, dir string) ([]string, error) {
	if len(given) > 0 {
		return slices.Clone(given), nil
	}
	return vectors.Paths(dir)
}

// secretOf returns the key that a file of vectors calls name.
func secretOf(f *vectors.File, name string) ([]byte, error) {
	k, ok := f.Keys[name]
	if !ok {
		return nil, fmt.Errorf("the vectors of %s have no key %q", f.Design, name)
	}
	return k, nil
}
