// Command sealab is the laboratory for sealed-token codecs: it lists the
// designs, measures them, attacks them, and reads and writes their tokens.
package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// The exit statuses.
const (
	exitStands  = 0 // all stands
	exitRefuted = 1 // something was refuted or regressed
	exitFault   = 2 // wrong usage, or a fault
)

// errRefuted ends a command with exitRefuted and no further text: the command
// has already said what does not stand.
var errRefuted = errors.New("refuted")

// run is the whole program.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := execute(root, args); {
	case err == nil:
		return exitStands
	case errors.Is(err, errRefuted):
		return exitRefuted
	default:
		explain(stderr, err)
		return exitFault
	}
}

func execute(root *cobra.Command, args []string) error {
	if err := checkCommand(root, args); err != nil {
		return err
	}
	return root.Execute()
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "sealab",
		Short:         "A laboratory for sealed-token codecs",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		newAttackCommand(),
		newBenchCommand(),
		newCheckCommand(),
		newCompareCommand(),
		newDifferentialCommand(),
		newFuzzCommand(),
		newInspectCommand(),
		newLeakCommand(),
		newListCommand(),
		newReplayCommand(),
		newReportCommand(),
		newSealCommand(),
		newServeCommand(),
		newUnsealCommand(),
		newVectorsCommand(),
		newVersionCommand(),
		newWorkerCommand(),
	)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 "))
	explainUsage(root)
	return root
}
