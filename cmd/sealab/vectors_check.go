package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/vectors"
	"sealab/vectors/accumulate"
	"sealab/vectors/replay"
)

func newVectorsCheckCommand() *cobra.Command {
	var dir, digests string
	var limit, most int
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Hold files of vectors to their schema and to the designs here",
		Long: `Hold files of vectors to their schema, and give every test to the design that
the file is of: verdict, stage, reason and what is released must be those of the
file, and sealing again must give the same tokens. Without files, all in --dir.

Exit status 1 says that a design and its file disagree.`,
		Example: `  sealab vectors check
  sealab vectors check vectors/files/aes-256-gcm.json --accumulate 10000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := files(args, dir)
			if err != nil {
				return err
			}
			committed, err := accumulate.Read(digests)
			if err != nil {
				return err
			}
			stands := true
			for _, path := range paths {
				ok, err := checkVectors(cmd, path, committed, limit, most)
				if err != nil {
					return err
				}
				stands = stands && ok
			}
			if !stands {
				return errRefuted
			}
			return nil
		},
	}
	addDirFlag(cmd, &dir)
	cmd.Flags().StringVar(&digests, "digests", accumulate.Path, "the file of the accumulated digests")
	cmd.Flags().IntVar(&limit, "accumulate", 0, "the most inputs to accumulate and compare: 0, 100, 10000 or 1000000")
	cmd.Flags().IntVar(&most, "most", 10, "the most disagreements to show per file")
	return cmd
}

// checkVectors checks one file and reports whether it stands.
func checkVectors(cmd *cobra.Command, path string, committed accumulate.File, limit, most int) (bool, error) {
	f, err := vectors.Read(path)
	if err != nil {
		return false, err
	}
	d, err := catalog.Find(f.Design)
	if err != nil {
		return false, fmt.Errorf("sealab: %s: %w", path, err)
	}
	r := replay.Run(f, d, replay.Demand{Exact: true, Reseal: true})
	if err := r.Write(cmd.OutOrStdout(), most); err != nil {
		return false, err
	}
	secret, err := secretOf(f, "k1")
	if err != nil {
		return false, err
	}
	fresh, err := accumulate.Run(d, secret, limit)
	if err != nil {
		return false, err
	}
	if differs := committed.Differs(d.Name, fresh); differs != "" {
		fmt.Fprintln(cmd.OutOrStdout(), "wrong:", differs)
		return false, nil
	}
	return r.Stands(), nil
}
