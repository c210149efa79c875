package main

import "github.com/spf13/cobra"

func newLeakCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leak",
		Short: "Find out whether time, branches or addresses depend on secrets",
		Long: `Find out whether the time that a design takes, or the branches and addresses in
its code, depend on what must stay secret.

There are two ways, and each sees what the other does not. "probe" measures
times on this machine and "judge" decides what they show, with the smallest
effect that they could have shown. "taint" runs the designs under valgrind with
secrets declared undefined, and names each line whose branches or addresses
depend on them. "report" puts pictures and findings beside the verdicts;
"recover" shows what a leak is worth.`,
	}
	cmd.AddCommand(newLeakProbeCommand(), newLeakJudgeCommand(), newLeakTaintCommand(), newLeakReportCommand(), newLeakRecoverCommand())
	return cmd
}
