package attack

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
)

// reviewFlags are the flags of the review command.
type reviewFlags struct {
	options                review.Options
	stdio, consent, also   string
	har, restart, explain  string
	headers, second        []string
	headerFile, secondFile string
	foreign                []string
	foreignFile            string
	tools                  []string
	args, other            toolFlag // of one tool each
	flow                   string
	checks                 []string
	format, out, record    string
	failOn                 string
	safe, list             bool
	outcomes               cli.Outcomes
}

func (f *reviewFlags) add(cmd *cobra.Command) {
	f.addTarget(cmd)
	flags, o := cmd.Flags(), &f.options
	flags.StringArrayVar(&f.tools, "tool", nil, "call this `tool` and no other; may be repeated")
	f.args, f.other = toolFlag{name: "args", tools: &f.tools}, toolFlag{name: "other", tools: &f.tools}
	flags.Var(&f.args, "args", "arguments of the tool in front of it, as `JSON`; behind all tools, the first one is for the first tool")
	flags.Var(&f.other, "other", "other arguments of the tool, as `JSON`, in the same order")
	flags.StringVar(&f.flow, "flow", "", "`file` with flows to review, in the form of a report")
	flags.BoolVar(&f.safe, "safe", true, "give no valid answer to a question; the opposite of --effects")
	flags.BoolVar(&o.Effects, "effects", false, "answer questions and run tools")
	flags.StringSliceVar(&f.checks, "checks", nil, "IDs or families of checks, for example RS-TAMPER or RS")
	flags.DurationVar(&o.TTL, "ttl", 0, "lifetime of tokens; the review waits until they expire")
	flags.DurationVar(&o.Wait, "wait", 0, "wait at most this `time` for the expiry of a token")
	flags.StringArrayVar(&o.OneTime, "one-time", nil, "`tool` whose tokens must be accepted only once; may be repeated")
	flags.StringVar(&o.Slow, "slow", "", "slow `tool` that may be called and canceled")
	flags.StringSliceVar(&o.Revise, "revision", nil, "revisions to review, for example 2026-07-28 or 2025-11-25 (default: all)")
	flags.StringVar(&o.Effect, "effect", "", "`tool` without arguments that returns the number of runs of the slow tool")
	flags.StringVar(&o.Changes, "changes", "", "`tool` without arguments that changes the list of tools and may be called")
	flags.StringVar(&f.har, "har", "", "check the tokens in recorded traffic and send nothing: `file` with an HTTP archive, exchanges of --record, or a log of messages")
	flags.StringVar(&f.also, "also", "", "`URL` of a second instance of the server")
	flags.Float64Var(&o.Rate, "rate", 0, "exchanges per second (default: 20 with other machines, no limit on this one)")
	flags.IntVar(&o.Budget, "budget", review.DefaultBudget, "largest number of exchanges")
	flags.DurationVar(&o.Time, "time", review.DefaultTime, "longest `time` of the review, without waits for expiry; later checks are not tested (0: no limit)")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of all random choices")
	flags.StringVar(&f.format, "format", "text", "form of the report: text, json, markdown or sarif")
	flags.StringVar(&f.out, "out", "", "`folder` of the reports in all forms")
	flags.StringVar(&f.record, "record", "", "`file` to write every exchange to, one JSON object per line, without credentials")
	flags.StringVar(&f.failOn, "fail-on", "warning", "lowest `severity` for exit status 1: critical, warning or suggestion")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(failOnSeverities, cobra.ShellCompDirectiveNoFileComp)))
	f.outcomes.AddFlags(cmd)
	flags.StringVar(&f.explain, "explain", "", "print the page of the check with this `id`")
	flags.BoolVar(&f.list, "list", false, "list the checks and review nothing")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.MarkFlagsMutuallyExclusive("safe", "effects")
}

// addTarget adds the flags for reaching a server, and for the users.
func (f *reviewFlags) addTarget(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.stdio, "stdio", "", "`command` that starts the server on standard input and output, words separated by spaces")
	flags.DurationVar(&f.options.Limits.Start, "start", review.DefaultStart, "longest `time` for the server to start or to restart")
	flags.StringVar(&f.consent, "consent", "", "`host` of a server on another machine that you are allowed to review")
	flags.StringArrayVar(&f.headers, "header", nil, "credentials, as `name: value`, on every request; may be repeated")
	flags.StringVar(&f.headerFile, "header-file", "", "`file` with such headers, one per line, which keeps them out of process lists")
	flags.StringArrayVar(&f.second, "second", nil, "credentials of a second user, as `name: value`; may be repeated")
	flags.StringArrayVar(&f.options.Secrets, "secret", nil, "`text` that must not be readable in a token; may be repeated")
	flags.StringVar(&f.restart, "restart", "", "`command` that restarts the server and then ends, words separated by spaces")
	flags.StringArrayVar(&f.foreign, "foreign", nil, "credentials that were issued for another server, as `name: value`; may be repeated")
	flags.StringVar(&f.foreignFile, "foreign-file", "", "`file` with such headers")
	flags.StringVar(&f.secondFile, "second-file", "", "`file` with the headers of the second user")
}

// failOnSeverities are the values of --fail-on, most severe first.
var failOnSeverities = []string{"critical", "warning", "suggestion"}

func (f *reviewFlags) check() error {
	if err := checkForm(f.format); err != nil {
		return err
	}
	if !slices.Contains(failOnSeverities, f.failOn) {
		return fmt.Errorf("--fail-on %q: want critical, warning or suggestion", f.failOn)
	}
	if f.options.Limits.Start <= 0 {
		return fmt.Errorf("--start %v: want more than 0", f.options.Limits.Start)
	}
	if f.options.Budget < 1 {
		return fmt.Errorf("--budget %d: want at least 1", f.options.Budget)
	}
	if _, err := review.Select(checks.All(), f.checks); err != nil {
		return fmt.Errorf("--checks: %w; --list prints them", err)
	}
	f.options.Effects = f.options.Effects || !f.safe
	return atomicfile.RequireWritable(f.out)
}

// scope parses the flags that select tools, flows and checks.
func (f *reviewFlags) scope() error {
	f.options.Checks = f.checks
	var err error
	if f.options.Tools, err = f.givenTools(); err != nil {
		return err
	}
	if f.flow == "" {
		return nil
	}
	data, err := os.ReadFile(f.flow)
	if err != nil {
		return fmt.Errorf("flows: %w", err)
	}
	if err := json.Unmarshal(data, &f.options.Flows); err != nil {
		return fmt.Errorf("flows: %s: %w; want an array of flows", f.flow, err)
	}
	return nil
}
