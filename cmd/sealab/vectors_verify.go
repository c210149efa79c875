package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sealab/codecs/worker"
	"sealab/vectors"
	"sealab/vectors/replay"
)

func newVectorsVerifyCommand() *cobra.Command {
	var command, as string
	var most int
	cmd := &cobra.Command{
		Use:   "verify --worker COMMAND FILE...",
		Short: "Give files of vectors to a worker, and report what it gets wrong",
		Long: `Give files of vectors to a worker: a program in any language that speaks the
worker protocol. The report counts, per stage and per flag, what it got wrong
and names the tests; the notes of the file say what an attacker gains by each.

An answer that the file expects of another reading of its format, such as what
an SDK takes and the strict reading refuses, is counted as another reading's and
not as wrong. --as holds the worker to the answers of one such reading instead,
by its name in the tests' readings.

Exit status 1 says that the worker got something wrong.`,
		Example: `  sealab vectors verify --worker "sealab worker aes-256-gcm" vectors/files/aes-256-gcm.json
  sealab vectors verify --worker "node worker.mjs" --as mcp-ts-faithful vectors/files/mcp-ts.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.Fields(command)
			if len(words) == 0 {
				return fmt.Errorf("sealab: --worker: want the command of a worker")
			}
			client, err := worker.Dial(worker.Command{Args: words}, worker.Limits{})
			if err != nil {
				return err
			}
			defer client.Close()
			stands := true
			for _, path := range args {
				f, err := vectors.Read(path)
				if err != nil {
					return err
				}
				r := replay.Run(f, client.Design(), replay.Demand{As: as})
				if err := r.Write(cmd.OutOrStdout(), most); err != nil {
					return err
				}
				if r.Died != nil {
					return r.Died
				}
				stands = stands && r.Stands()
			}
			if !stands {
				return errRefuted
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&command, "worker", "", "the command that starts the worker, words parted by spaces")
	cmd.Flags().StringVar(&as, "as", "", "the reading of the format whose verdicts are demanded")
	cmd.Flags().IntVar(&most, "most", 20, "the most disagreements to show per file")
	return cmd
}
