package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sealab/codecs/worker"
	"sealab/internal/cli"
	"sealab/vectors"
	"sealab/vectors/replay"
)

func newVectorsVerifyCommand() *cobra.Command {
	var v vectorsVerifier
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

Exit status 1 says that the worker got something wrong, 2 that it broke time and
again or could not be asked anything.`,
		Example: `  sealab vectors verify --worker "sealab worker aes-256-gcm" vectors/files/aes-256-gcm.json
  sealab vectors verify --worker "node worker.mjs" --as mcp-ts-faithful vectors/files/mcp-ts.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	cmd.Flags().StringVar(&v.command, "worker", "", "the command that starts the worker, words parted by spaces")
	cmd.Flags().StringVar(&v.demand.As, "as", "", "the reading of the format whose verdicts are demanded")
	cmd.Flags().IntVar(&v.most, "most", 20, "the most disagreements to show per file")
	return cmd
}

// A vectorsVerifier gives files of vectors to a worker, as its flags say.
type vectorsVerifier struct {
	command string
	demand  replay.Demand
	most    int // disagreements shown of a file
}

func (v *vectorsVerifier) run(out, notes io.Writer, files []string) error {
	words := strings.Fields(v.command)
	if len(words) == 0 {
		return fmt.Errorf("sealab: --worker: want the command of a worker")
	}
	client, err := worker.Dial(worker.Command{Args: words}, worker.Limits{})
	if err != nil {
		return err
	}
	defer client.Close()
	stand := true
	for _, path := range files {
		r, err := verifyFile(client, path, v.demand)
		if err != nil {
			return err
		}
		if err := writeReport(out, notes, r, v.most); err != nil {
			return err
		}
		stand = stand && r.Stands()
	}
	if !stand {
		return cli.ErrRefuted
	}
	return nil
}

func verifyFile(client *worker.Client, path string, demand replay.Demand) (*replay.Report, error) {
	f, err := vectors.Read(path)
	if err != nil {
		return nil, err
	}
	return replay.Run(f, client.Design(), demand), nil
}

// writeReport writes a report, and beside it how the worker first broke. It is an
// error where the run ended early or nothing could be asked, which is no pass.
func writeReport(w, notes io.Writer, r *replay.Report, most int) error {
	if err := r.Write(w, most); err != nil {
		return err
	}
	switch {
	case r.Died != nil:
		return r.Died
	case r.Exercised() == 0:
		return fmt.Errorf("sealab: none of the %d tests of %s could be exercised on %s: %s",
			len(r.Findings), r.Design, r.Subject, r.Findings[0].Detail)
	case r.Fault != nil:
		explain(notes, r.Fault)
	}
	return nil
}
