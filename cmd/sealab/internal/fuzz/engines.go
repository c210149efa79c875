package fuzz

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/internal/cli"
)

// goFuzzPackage provides the targets as functions for go-fuzz and libFuzzer.
const goFuzzPackage = "sealab/fuzz/targets/gofuzz"

func newFleet() *cobra.Command {
	var dir, tags string
	var library bool
	cmd := &cobra.Command{
		Use:   "fleet TARGET",
		Short: "Build a target for go-fuzz on many machines, or for libFuzzer",
		Long: `Build the instrumented target and go-fuzz in a folder, write the seeds, and
print the commands that fuzz it, on one machine or on many. An archive in the
folder is kept, because every worker must have the same.

The coordinator and the workers of go-fuzz use no encryption or authentication:
every client of the port can read and write the corpus and choose the inputs of
all workers. Keep the port on the loopback interface and tunnel to it. The flag
-http of go-fuzz serves profiles and its command line to every Host; leave it
out on a machine with a browser.`,
		Example: `  sealab fuzz fleet text --dir fuzz-fleet
  sealab fuzz fleet text --dir fuzz-lib --libfuzzer`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(cmd)
			defer stop()
			t, seeds, err := seedsOf(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "building %s in %s, which takes minutes\n", t.Name, dir)
			built := campaign.Fleet{Package: goFuzzPackage, Function: t.NativeName(), Tags: tags, Seeds: seeds}
			if library {
				return built.BuildLibrary(ctx, dir)
			}
			if err := built.Build(ctx, dir); err != nil {
				return err
			}
			commands, err := campaign.FleetCommands(dir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), commands)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "fuzz-fleet", "folder to build in")
	cmd.Flags().StringVar(&tags, "tags", "", "build tags, separated by spaces")
	cmd.Flags().BoolVar(&library, "libfuzzer", false, "build target.a for clang -fsanitize=fuzzer instead")
	return cmd
}

func newImport() *cobra.Command {
	var folder campaignFolder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import TARGET WORKDIR",
		Short: "Add the findings of go-fuzz to a campaign",
		Long: `Add the corpus in a working folder of go-fuzz to that of a campaign, and run
its crashers again to file them there. go-fuzz may run at the same time; the
campaign must not. The exit status is 1 if the campaign has crashers.`,
		Example: `  sealab fuzz import text fuzz-fleet/work --dir fuzz-campaign`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(cmd)
			defer stop()
			if _, err := os.Stat(args[1]); err != nil {
				return err
			}
			targets, err := targetsOf(args[:1], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			inputs, failing, err := harness.ReadWorkdir(args[1])
			if err != nil {
				return err
			}
			if len(inputs)+len(failing) == 0 {
				return fmt.Errorf("%s has no corpus and no crashers; want a working folder of go-fuzz", args[1])
			}
			config := folder.config()
			config.Targets, config.Log = targets, func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			c, err := campaign.Open(ctx, config)
			if err != nil {
				return err
			}
			n, err := c.Import(ctx, targets[0], inputs, failing)
			if err := errors.Join(err, c.Close()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d new inputs, %d new crash buckets\n\n", args[0], n.Inputs, n.Buckets)
			return tellStatus(cmd.OutOrStdout(), folder.dir, asJSON)
		},
	}
	folder.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the status of the campaign as JSON")
	return cmd
}
