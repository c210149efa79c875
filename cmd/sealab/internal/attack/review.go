package attack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// NewReview returns the command "review".
func NewReview() *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use:   "review [URL]",
		Short: "Review a live MCP server and report faults with evidence",
		Long: `Review a server of the Model Context Protocol at a URL, or with --stdio a server
that a command starts. The review first reads the revision, the lists and the
questions of the server. Checks then alter requestState tokens, headers, bodies
and lines, and compare the answers with controls on the same server.

By default the review gives no valid answer to a question of a tool, so that a
tool that asks first runs only if it takes a malformed answer, and does not call
tools that claim to be destructive; --effects allows both. To review a server
beyond this machine, name its host with --consent. Reports leave out the
credentials of --header and --second.

The exit status is 1 if there is a finding of at least --fail-on, and 0 if there
is none. It is 2 if the server could not be reviewed, if an interrupt, --time or
--budget ended the review before the last check, or if no state was seen and a
tool that may ask was not called; name it with --tool. The results so far are
printed and written. "sealab replay" repeats findings.`,
		Example: `  sealab review http://127.0.0.1:8080/mcp
  sealab review --stdio "sealab serve" --format json > findings.json
  sealab review http://127.0.0.1:8080/mcp --header "Authorization: Bearer alice" --second "Authorization: Bearer bob"
  sealab review http://127.0.0.1:8080/mcp --tool remove --args '{"env":"prod"}' --other '{"env":"test"}' --effects
  sealab review http://127.0.0.1:8080/mcp --checks RS-TAMPER,RS-EXP --ttl 10s --out results
  sealab review --har session.har --secret alice@example.com
  sealab review --list
  sealab review --explain RS-ARGS`,
		Args: cobra.ArbitraryArgs,
		RunE: f.run,
	}
	f.add(cmd)
	return cmd
}

func (f *reviewFlags) run(cmd *cobra.Command, args []string) error {
	if f.list {
		return listChecks(cmd.OutOrStdout(), f.outcomes.AsJSON)
	}
	if f.explain != "" {
		return explainCheck(cmd.OutOrStdout(), f.explain)
	}
	if err := f.check(); err != nil {
		return err
	}
	if err := f.credentials(); err != nil {
		return err
	}
	if f.har != "" {
		return f.traffic(cmd, args)
	}
	if err := f.target(args); err != nil {
		return err
	}
	if err := f.scope(); err != nil {
		return err
	}
	if err := f.setRestart(); err != nil {
		return err
	}
	closeRecord, err := f.openRecord()
	if err != nil {
		return err
	}
	notes := cmd.ErrOrStderr()
	f.options.Log = func(format string, a ...any) { fmt.Fprintf(notes, format+"\n", a...) }
	f.announce(notes)
	ctx, done := cli.Interruptible(cmd)
	defer done()
	report, err := review.Run(ctx, checks.All(), f.options)
	closed := closeRecord()
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	return f.finish(cmd, report, closed)
}

// finish prints and writes a report. It also reports an interrupt or a failed
// record.
func (f *reviewFlags) finish(cmd *cobra.Command, report *review.Report, failed error) error {
	notes := cmd.ErrOrStderr()
	err := f.report(f.outcomes.Begin(cmd), notes, report)
	left, why := 0, ""
	for _, o := range report.Outcomes {
		if o.Stopped == nil {
			continue
		}
		left++
		if why = o.Reason; errors.Is(o.Stopped, review.ErrInterrupted) {
			why = "interrupted"
		}
	}
	if left > 0 {
		failed = errors.Join(failed, fmt.Errorf("review: %s: %d of %d checks were not carried out to the end", why, left, len(report.Outcomes)))
	}
	switch {
	case failed == nil:
	case errors.Is(err, cli.ErrRefuted):
		fmt.Fprintf(notes, "sealab: %s\n", cli.Line(failed))
	default:
		err = failed
	}
	for _, o := range report.Outcomes {
		f.outcomes.Ask(report.Server.Name, o.Check, verdict.Outcome(o.Outcome), o.Reason)
	}
	if len(report.Unseen) > 0 {
		f.outcomes.Ask(report.Server.Name, "tools that may ask", verdict.NotTested, uncalledTools(report))
	}
	return f.outcomes.End(err)
}

// traffic judges recorded traffic.
func (f *reviewFlags) traffic(cmd *cobra.Command, args []string) error {
	if len(args) > 0 || f.stdio != "" {
		return fmt.Errorf("--har takes no server: nothing is sent")
	}
	file, err := os.Open(f.har)
	if err != nil {
		return fmt.Errorf("traffic: %w", err)
	}
	defer file.Close()
	tokens, err := checks.ReadTraffic(file)
	if err != nil {
		return fmt.Errorf("%s: %w", f.har, err)
	}
	f.options.Target.URL = f.har
	fmt.Fprintf(cmd.ErrOrStderr(), "%s in %s\n", table.Count(len(tokens), "token"), f.har)
	return f.finish(cmd, checks.Traffic(tokens, f.options.Secrets, f.checks), nil)
}

// announce prints the plan before the first request.
func (f *reviewFlags) announce(w io.Writer) {
	o := f.options
	target := o.Target.URL
	if target == "" {
		target = strings.Join(o.Target.Command, " ")
	}
	mode := "no question is answered; tools are called only if they are named, claim to read only, or are likely to ask first"
	within := ""
	if o.Time > 0 {
		within = fmt.Sprintf(" in %v", o.Time)
	}
	if o.Effects {
		mode = "questions are answered and tools run to their end"
	}
	fmt.Fprintf(w, "reviewing %s: at most %d exchanges%s, at most %v for a start; %s\n", target, o.Budget, within, o.Limits.Start, mode)
	if len(o.Tools) > 0 {
		fmt.Fprintf(w, "tools that may be called: %s\n", strings.Join(f.tools, ", "))
	}
}

// report prints and writes the outcome, and returns the error for the exit
// status.
func (f *reviewFlags) report(w, notes io.Writer, report *review.Report) error {
	dir, file, err := runFolder(f.out, runfile.Review)
	if err != nil {
		return err
	}
	all, err := f.findings(report, file)
	if err != nil {
		return err
	}
	if dir != "" {
		if err := f.write(dir, report, all); err != nil {
			return err
		}
		fmt.Fprintf(notes, "wrote %s\n", dir)
	}
	if f.format == "text" {
		if err := printSummary(w, report); err != nil {
			return err
		}
	}
	if err := findingWriters[f.format](w, all); err != nil {
		return err
	}
	limit := slices.Index(failOnSeverities, f.failOn)
	for _, x := range all {
		if slices.Index(failOnSeverities, string(x.Severity)) <= limit {
			return cli.ErrRefuted
		}
	}
	if !slices.ContainsFunc(report.Outcomes, func(o review.Outcome) bool { return o.Outcome != review.NotTested }) {
		return fmt.Errorf("review: no check could be carried out: %s", report.Outcomes[0].Reason)
	}
	if len(report.Unseen) > 0 && len(report.Flows) == 0 {
		return fmt.Errorf("review: %s", uncalledTools(report))
	}
	return nil
}

// uncalledTools lists the tools that may ask and were not called.
func uncalledTools(report *review.Report) string {
	return fmt.Sprintf("not called, so that their states are not tested: %s that may ask: %s; --tool names tools to review, "+
		"--effects allows all", table.Count(len(report.Unseen), "tool"), strings.Join(report.Unseen, ", "))
}

func explainCheck(w io.Writer, id string) error {
	for _, c := range checks.All() {
		if c.ID == id {
			_, err := w.Write(c.Page())
			return err
		}
	}
	return fmt.Errorf("--explain %q: no such check; --list lists them", id)
}

func listChecks(w io.Writer, asJSON bool) error {
	d := cli.QuestionsDocument{Format: cli.QuestionsFormat, Command: "sealab review"}
	t := table.New("llll").AtMargin()
	for _, c := range checks.All() {
		needs := ""
		if c.Effects {
			needs = "needs --effects"
		}
		severity := string(findings.Severity(c.Severity))
		d.Questions = append(d.Questions, cli.QuestionDocument{ID: c.ID, Name: c.Name, Severity: severity, Skipped: needs})
		t.Row(c.ID, severity, c.Name, needs)
	}
	return cli.WriteAs(w, asJSON, d, t.Write)
}
