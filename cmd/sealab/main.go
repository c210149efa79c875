// Command sealab is the laboratory for sealed-token codecs: it lists the
// designs, measures them, attacks them, and reads and writes their tokens.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sealab/cmd/mcpserver/serve"
	"sealab/codecs/worker"
	"sealab/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return explain(stderr, cli.Run(newRoot(), args, stdin, stdout, stderr))
}

// explain prints err as one line and, if a worker ended, the end of its standard
// error. It returns the exit status.
func explain(w io.Writer, err error) int {
	status := cli.Exit(w, "sealab", err)
	var fault *worker.FaultError
	if status != cli.Fault || !errors.As(err, &fault) || strings.TrimSpace(fault.Event.Stderr) == "" {
		return status
	}
	fmt.Fprintln(w, "the end of the worker's standard error:")
	for line := range strings.Lines(strings.TrimSpace(fault.Event.Stderr)) {
		fmt.Fprintln(w, "  "+strings.TrimRight(line, "\r\n"))
	}
	return status
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sealab",
		Short: "A laboratory for sealed-token codecs",
	}
	root.AddCommand(
		newAttackCommand(),
		newBenchCommand(),
		newCompareCommand(),
		newDifferentialCommand(),
		newFuzzCommand(),
		newInspectCommand(),
		newLeakCommand(),
		newListCommand(),
		newReplayCommand(),
		newReportCommand(),
		newReviewCommand(),
		newSealCommand(),
		serve.New("sealab serve"),
		newUnsealCommand(),
		newVectorsCommand(),
		newVersionCommand(),
		newWorkerCommand(),
	)
	return cli.Prepare(root)
}
