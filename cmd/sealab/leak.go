package main

import "github.com/spf13/cobra"

func newLeakCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leak",
		Short: "Test if time, branches or addresses depend on secrets",
		Long: `Test if the time of a design, or the branches and addresses in its code, depend
on secrets.

There are two ways, and each sees effects that the other does not. "probe"
measures times on this machine, and "judge" compares them, with the minimum
detectable effect. "taint" runs the designs under valgrind with secrets declared
undefined, and names each line whose branches or addresses depend on them.
"report" adds pictures and findings to the outcomes. "recover" forges a token by
timing alone.`,
	}
	cmd.AddCommand(newLeakProbeCommand(), newLeakJudgeCommand(), newLeakTaintCommand(), newLeakReportCommand(), newLeakRecoverCommand())
	return cmd
}
