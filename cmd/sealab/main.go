// Command sealab lists the designs of sealed-token codecs, measures them,
// attacks them, and reads and writes their tokens.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"sealab/cmd/mcpserver/serve"
	"sealab/cmd/sealab/internal/attack"
	"sealab/cmd/sealab/internal/designs"
	"sealab/cmd/sealab/internal/fuzz"
	"sealab/cmd/sealab/internal/measure"
	"sealab/cmd/sealab/internal/subject"
	"sealab/cmd/sealab/internal/tokens"
	"sealab/cmd/sealab/internal/vectors"
	"sealab/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return subject.PrintError(stderr, cli.Run(newRoot(), args, stdin, stdout, stderr))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:     "sealab",
		Short:   "Measure, attack and fuzz sealed-token codecs",
		Version: versionText(),
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("{{.Version}}\n")
	add := func(group string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: group, Title: group + ":"})
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	bench := measure.NewBench()
	bench.AddCommand(hideCommands(measure.NewReport(), measure.NewCompare())...)
	add("Measure", bench, measure.NewReport(), measure.NewCompare(), measure.NewCompareFormats(), measure.NewLeak(), newSiteCommand())
	add("Attack", attack.New(), attack.NewReview(), attack.NewReplay(), attack.NewCVE())
	add("Fuzz", fuzz.New())
	add("Vectors", vectors.New())
	add("Tokens", designs.NewList(), designs.NewChoose(), tokens.NewSeal(), tokens.NewUnseal(), tokens.NewInspect(), tokens.NewIdentify())
	add("Serve", serve.New("sealab serve"), newWorkerCommand())
	root.AddCommand(newVersionCommand(), newDocsCommand())
	root.AddCommand(hideCommands(fuzz.NewDifferential())...)
	addCompletions(root)
	return cli.Prepare(root)
}

// hideCommands returns commands under a second name that the help does not
// show.
func hideCommands(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}
