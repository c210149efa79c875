package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/internal/cli"
	"sealab/vectors"
	"sealab/vectors/accumulate"
	"sealab/vectors/replay"
)

func newVectorsCheckCommand() *cobra.Command {
	var c vectorsChecker
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Hold files of vectors to their schema and to the designs here",
		Long: `Hold files of vectors to their schema, and give every test to the design that
the file is of: verdict, stage, reason and what is released must be those of the
file, and sealing again must give the same tokens. Without files, all in --dir.

Exit status 1 says that a design and its file disagree.`,
		Example: `  sealab vectors check
  sealab vectors check vectors/files/aes-256-gcm.json --accumulate 10000`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.OutOrStdout(), args) },
	}
	addDirFlag(cmd, &c.dir)
	cmd.Flags().StringVar(&c.digests, "digests", accumulate.Path, "the file of the accumulated digests")
	cmd.Flags().IntVar(&c.limit, "accumulate", 0, "the most inputs to accumulate and compare: 0, 100, 10000 or 1000000")
	cmd.Flags().IntVar(&c.most, "most", 10, "the most disagreements to show per file")
	return cmd
}

// A vectorsChecker holds files of vectors to the designs, as its flags say.
type vectorsChecker struct {
	dir, digests string
	limit        int // of inputs to accumulate
	most         int // disagreements shown of a file
}

func (c *vectorsChecker) run(out io.Writer, given []string) error {
	paths, err := vectorFiles(given, c.dir)
	if err != nil {
		return err
	}
	committed, err := accumulate.Read(c.digests)
	if err != nil {
		return err
	}
	stand := true
	for _, path := range paths {
		stands, err := c.check(out, path, committed)
		if err != nil {
			return err
		}
		stand = stand && stands
	}
	if !stand {
		return cli.ErrRefuted
	}
	return nil
}

// check checks one file and reports whether it stands.
func (c *vectorsChecker) check(out io.Writer, path string, committed accumulate.File) (bool, error) {
	f, err := vectors.Read(path)
	if err != nil {
		return false, err
	}
	d, err := catalog.Find(f.Design)
	if err != nil {
		return false, fmt.Errorf("sealab: %s: %w", path, err)
	}
	r := replay.Run(f, d, replay.Demand{Exact: true, Reseal: true})
	if err := r.Write(out, c.most); err != nil {
		return false, err
	}
	secret, err := secretOf(f, "k1")
	if err != nil {
		return false, err
	}
	fresh, err := accumulate.Run(d, secret, c.limit)
	if err != nil {
		return false, err
	}
	if differs := committed.Differs(d.Name, fresh); differs != "" {
		fmt.Fprintln(out, "wrong:", differs)
		return false, nil
	}
	return r.Stands(), nil
}
