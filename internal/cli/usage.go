package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// explainUsage makes every command below cmd report wrong arguments and flags
// together with the usage that it wants.
func explainUsage(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		explainUsage(sub)
		if sub.Args != nil {
			sub.Args = explained(sub.Args)
		}
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
}

// explained returns check with an error that shows the usage line instead of
// cobra's count of arguments.
func explained(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return fmt.Errorf("wrong number of arguments: %d; want %s", len(args), cmd.UseLine())
	}
}

// checkCommand refuses an unknown subcommand, as in "sealab fuzz runn": cobra
// would print the help of the group and report success. Cobra itself reports
// unknown commands of root.
func checkCommand(root *cobra.Command, args []string) error {
	group, rest, err := root.Find(args)
	if err != nil || group == root || !group.HasSubCommands() {
		return nil
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return fmt.Errorf("unknown command %q for %q; %s --help lists them", rest[0], group.CommandPath(), group.CommandPath())
}

// RenameFlag makes the flag called name answer to an earlier name as well.
func RenameFlag(cmd *cobra.Command, earlier, name string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
		if given == earlier {
			return pflag.NormalizedName(name)
		}
		return pflag.NormalizedName(given)
	})
}
