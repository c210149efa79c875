// Command sealab is the laboratory for sealed-token codecs: it lists the
// designs, measures them, attacks them, and reads and writes their tokens.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
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

// The groups of commands in the help.
const (
	groupMeasure = "measure"
	groupAttack  = "attack"
	groupFuzz    = "fuzz"
	groupVectors = "vectors"
	groupTokens  = "tokens"
	groupServe   = "serve"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:     "sealab",
		Short:   "Measure, attack and fuzz sealed-token codecs",
		Version: version(),
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("{{.Version}}\n")
	for _, id := range []string{groupMeasure, groupAttack, groupFuzz, groupVectors, groupTokens, groupServe} {
		root.AddGroup(&cobra.Group{ID: id, Title: strings.ToUpper(id[:1]) + id[1:] + ":"})
	}
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	bench := newBenchCommand()
	bench.AddCommand(newReportCommand(), newCompareCommand())
	fuzz := newFuzzCommand()
	fuzz.AddCommand(newDifferentialCommand())
	add(groupMeasure, bench, newLeakCommand(), newSiteCommand())
	add(groupAttack, newAttackCommand(), newReviewCommand(), newReplayCommand())
	add(groupFuzz, fuzz)
	add(groupVectors, newVectorsCommand())
	add(groupTokens, newListCommand(), newChooseCommand(), newSealCommand(), newUnsealCommand(), newInspectCommand())
	add(groupServe, serve.New("sealab serve"), newWorkerCommand())
	// Names of earlier versions.
	for _, c := range []*cobra.Command{newReportCommand(), newCompareCommand(), newDifferentialCommand(), newVersionCommand()} {
		c.Hidden = true
		root.AddCommand(c)
	}
	return cli.Prepare(root)
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of sealab and of the toolchain that built it",
		Long: `Print the version of sealab, its commit, and the toolchain and the machine that
it was built for. Builds by "go run" or with -buildvcs=false know no commit.`,
		Example: `  sealab version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version returns the version of this binary, and of its toolchain and machine.
func version() string {
	return fmt.Sprintf("sealab %s%s %s %s/%s", moduleVersion(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// moduleVersion returns the version that this binary was built from.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// commit returns the commit that this binary was built from, in parentheses after
// a space. It is empty if the build does not know.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	known := map[string]string{}
	for _, s := range info.Settings {
		known[s.Key] = s.Value
	}
	parts := []string{"commit " + known["vcs.revision"]}
	if known["vcs.revision"] == "" {
		return ""
	}
	if known["vcs.modified"] == "true" {
		parts = append(parts, "modified")
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
