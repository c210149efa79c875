package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/spf13/cobra"

	"sealab/internal/atomicfile"
	"sealab/vectors/export"
	"sealab/vectors/generate"
)

func newVectorsDistCommand() *cobra.Command {
	var dir, out, version string
	cmd := &cobra.Command{
		Use:   "dist",
		Short: "Write one archive with everything that a consumer of vectors needs",
		Long: `Write one archive with everything that a consumer of vectors needs: the files
in every form, the schema, the page, the accumulated digests, the consumers, the
licence, and an index with SHA-256 sums. The same files give the same archive.`,
		Example: `  sealab vectors dist
  sealab vectors dist --out vectors-2.tar.gz --version 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := export.Dist(dir, version)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, data); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%x  %s\n", sha256.Sum256(data), out)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "vectors", "vectors", "the folder vectors of the module")
	cmd.Flags().StringVar(&out, "out", "sealab-vectors.tar.gz", "the archive")
	cmd.Flags().StringVar(&version, "version", fmt.Sprint(generate.Version), "the version to write into it")
	return cmd
}
