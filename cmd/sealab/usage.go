package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// explainUsage makes every command below cmd answer wrong arguments and flags
// with what it wants.
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

// explained returns check with an error that shows the usage line, where cobra
// would count arguments.
func explained(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return fmt.Errorf("wrong number of arguments: %d; want %s", len(args), cmd.UseLine())
	}
}

// checkCommand refuses a word that is no command of a group, as in "sealab fuzz
// runn": cobra would print the help of the group and report success. Words that
// are no command of root itself are left to cobra.
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
