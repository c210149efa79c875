package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/fuzz/review"
	"sealab/internal/cli"
	"sealab/internal/rawmcp"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

func newReviewCommand() *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use:   "review [URL]",
		Short: "Review a live MCP server and report faults that can be shown again",
		Long: `Review a server of the Model Context Protocol at a URL, or with --stdio one that
is started by a command. The revision, the lists and the questions of the server
are found out first. Checks then alter tokens of requestState, headers, bodies
and lines, and compare the answers with controls on the same server.

By default no question of a tool is answered, so that no tool that asks first
runs to its end, and tools that claim to be destructive are not called;
--effects allows both. A target beyond this machine has to be confirmed with
--consent and its host. Credentials of --header and --second stand in no report.

The exit status is 1 if there is a finding of at least --fail-on, 0 if there is
none, and 2 if the server could not be reviewed, if the review was interrupted,
or if no state was seen and a tool that says that it asks was not called: --tool
names the tools that are meant. The results until an interrupt are printed and
written. "sealab replay" shows findings again.`,
		Example: `  sealab review http://127.0.0.1:8080/mcp
  sealab review --stdio "sealab serve" --format json > findings.json
  sealab review http://127.0.0.1:8080/mcp --header "Authorization: Bearer alice" --second "Authorization: Bearer bob"
  sealab review http://127.0.0.1:8080/mcp --tool remove --args '{"env":"prod"}' --other '{"env":"test"}' --effects
  sealab review http://127.0.0.1:8080/mcp --checks RS-TAMPER,RS-EXP --ttl 10s --out results
  sealab review --har session.har --secret alice@example.com
  sealab review --list
  sealab review --explain RS-ARGS`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	return cmd
}

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
	args, other, flow      string
	checks                 []string
	format, out, record    string
	failOn                 string
	safe, list             bool
	outcomes               outcomes
}

func (f *reviewFlags) add(cmd *cobra.Command) {
	f.addTarget(cmd)
	flags, o := cmd.Flags(), &f.options
	flags.StringArrayVar(&f.tools, "tool", nil, "call this `tool` and no other; may be repeated")
	flags.StringVar(&f.args, "args", "", "arguments of the tool, as `JSON`")
	flags.StringVar(&f.other, "other", "", "other arguments of the tool, as `JSON`")
	flags.StringVar(&f.flow, "flow", "", "`file` with flows, as a report has them")
	flags.BoolVar(&f.safe, "safe", true, "answer no question and run no tool to its end; --effects is the opposite")
	flags.BoolVar(&o.Effects, "effects", false, "answer questions and run tools")
	flags.StringSliceVar(&f.checks, "checks", nil, "ids or families of checks, as RS-TAMPER or RS")
	flags.DurationVar(&o.TTL, "ttl", 0, "how long tokens live; waits for it")
	flags.DurationVar(&o.Wait, "wait", 0, "wait at most this `time` for the expiry of a token")
	flags.StringArrayVar(&o.OneTime, "one-time", nil, "`tool` whose tokens must be accepted once; may be repeated")
	flags.StringVar(&o.Slow, "slow", "", "`tool` that takes long and may be called and cancelled")
	flags.StringSliceVar(&o.Revise, "revision", nil, "revisions to review, as 2026-07-28 or 2025-11-25 (default: all)")
	flags.StringVar(&o.Effect, "effect", "", "`tool` without arguments whose text tells how often the slow tool ran")
	flags.StringVar(&o.Changes, "changes", "", "`tool` without arguments that changes the list of tools and may be called")
	flags.StringVar(&f.har, "har", "", "judge the tokens of recorded traffic and send nothing: `file` of an HTTP archive, of --record, or a log of messages")
	flags.StringVar(&f.also, "also", "", "`URL` of a second instance of the server")
	flags.Float64Var(&o.Rate, "rate", 0, "exchanges a second (default: 20 beyond this machine, no limit on it)")
	flags.IntVar(&o.Budget, "budget", review.DefaultBudget, "exchanges at most")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of everything that is drawn")
	flags.StringVar(&f.format, "format", "text", "form of the report: text, json, markdown or sarif")
	flags.StringVar(&f.out, "out", "", "`folder` of the reports in all forms")
	flags.StringVar(&f.record, "record", "", "`file` for every exchange, one JSON object a line, without credentials")
	flags.StringVar(&f.failOn, "fail-on", "warning", "lowest `severity` for exit status 1: critical, warning or suggestion")
	f.outcomes.add(cmd)
	flags.StringVar(&f.explain, "explain", "", "print the page of the check with this `id`")
	flags.BoolVar(&f.list, "list", false, "list the checks and review nothing")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.MarkFlagsMutuallyExclusive("safe", "effects")
}

// addTarget adds the flags that say how a server is reached, and as whom.
func (f *reviewFlags) addTarget(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.stdio, "stdio", "", "`command` that starts the server on standard input and output, words parted by spaces")
	flags.DurationVar(&f.options.Limits.Start, "start", review.DefaultStart, "`time` that the server may take to start, or to come back")
	flags.StringVar(&f.consent, "consent", "", "`host` that you may review, if it is not this machine")
	flags.StringArrayVar(&f.headers, "header", nil, "credentials, as `name: value`, on every request; may be repeated")
	flags.StringVar(&f.headerFile, "header-file", "", "`file` with such headers, one a line, which no list of processes shows")
	flags.StringArrayVar(&f.second, "second", nil, "credentials of a second user, as `name: value`; may be repeated")
	flags.StringArrayVar(&f.options.Secrets, "secret", nil, "`text` that must not be readable in a token; may be repeated")
	flags.StringVar(&f.restart, "restart", "", "`command` that restarts the server and ends, words parted by spaces")
	flags.StringArrayVar(&f.foreign, "foreign", nil, "credentials that were issued for another server, as `name: value`; may be repeated")
	flags.StringVar(&f.foreignFile, "foreign-file", "", "`file` with such headers")
	flags.StringVar(&f.secondFile, "second-file", "", "`file` with the headers of the second user")
}

func (f *reviewFlags) run(cmd *cobra.Command, args []string) error {
	if f.list {
		return listChecks(cmd.OutOrStdout(), f.outcomes.json)
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
	restart, err := f.restarter()
	if err != nil {
		return err
	}
	f.options.Restart = restart
	closeRecord, err := f.openRecord()
	if err != nil {
		return err
	}
	notes := cmd.ErrOrStderr()
	f.options.Log = func(format string, a ...any) { fmt.Fprintf(notes, format+"\n", a...) }
	f.announce(notes)
	ctx, done := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer done()
	context.AfterFunc(ctx, done) // a second interrupt ends the command
	report, err := review.Run(ctx, f.options)
	closed := closeRecord()
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	return f.finish(cmd, report, closed)
}

// finish prints and writes a report, and says if it was interrupted or if the record failed.
func (f *reviewFlags) finish(cmd *cobra.Command, report *review.Report, failed error) error {
	notes := cmd.ErrOrStderr()
	err := f.report(f.outcomes.begin(cmd), notes, report)
	left := 0
	for _, o := range report.Outcomes {
		if o.Reason == review.Interrupted {
			left++
		}
	}
	if left > 0 {
		failed = errors.Join(failed, fmt.Errorf("review: interrupted: %d of %d checks were not carried out to the end", left, len(report.Outcomes)))
	}
	switch {
	case failed == nil:
	case errors.Is(err, cli.ErrRefuted):
		fmt.Fprintf(notes, "sealab: %s\n", cli.Line(failed))
	default:
		err = failed
	}
	for _, o := range report.Outcomes {
		f.outcomes.ask(report.Server.Name, o.Check, verdict.Outcome(o.Outcome), o.Reason)
	}
	if len(report.Unseen) > 0 {
		f.outcomes.ask(report.Server.Name, "tools that may ask", verdict.NotTested, unseen(report))
	}
	return f.outcomes.end(err)
}

// severities are the values of --fail-on, the worst first.
var severities = []string{"critical", "warning", "suggestion"}

func (f *reviewFlags) check() error {
	if _, ok := forms[f.format]; !ok {
		return fmt.Errorf("--format %q: want text, json, markdown or sarif", f.format)
	}
	if !slices.Contains(severities, f.failOn) {
		return fmt.Errorf("--fail-on %q: want critical, warning or suggestion", f.failOn)
	}
	if f.options.Limits.Start <= 0 {
		return fmt.Errorf("--start %v: want more than 0", f.options.Limits.Start)
	}
	if f.options.Budget < 1 {
		return fmt.Errorf("--budget %d: want at least 1", f.options.Budget)
	}
	f.options.Effects = f.options.Effects || !f.safe
	if f.out != "" {
		return requireWritable(f.out)
	}
	return nil
}

// target reads the server to review and the consent to do so.
func (f *reviewFlags) target(args []string) error {
	switch {
	case f.stdio != "" && len(args) == 0:
		f.options.Target.Command = strings.Fields(f.stdio)
		return nil
	case f.stdio == "" && len(args) == 1:
		f.options.Target.URL = args[0]
		f.options.Target.Also = f.also
	default:
		return fmt.Errorf("want a URL, or --stdio and a command")
	}
	here := true
	for _, target := range []string{args[0], f.also} {
		if target == "" {
			continue
		}
		host, loopback, err := hostOf(target)
		if err != nil {
			return err
		}
		if here = here && loopback; !loopback && f.consent != host {
			return fmt.Errorf("%s is not this machine: add --consent %s if you may review it", host, host)
		}
	}
	if f.options.Rate == 0 && !here {
		f.options.Rate = 20
	}
	return nil
}

// hostOf returns the host of a URL and reports whether it is this machine.
func hostOf(target string) (host string, loopback bool, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false, fmt.Errorf("target %q: want an http or https URL", target)
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16); err != nil || port == 0 {
		return "", false, fmt.Errorf("target %q: want a port of 1 to 65535", target)
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname(), u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// credentials reads the headers of both users.
func (f *reviewFlags) credentials() error {
	for _, u := range []struct {
		given []string
		file  string
		into  *[]rawmcp.Header
	}{{f.headers, f.headerFile, &f.options.Target.Headers}, {f.second, f.secondFile, &f.options.Target.Second}, {f.foreign, f.foreignFile, &f.options.Target.Foreign}} {
		lines := slices.Clone(u.given)
		if u.file != "" {
			data, err := os.ReadFile(u.file)
			if err != nil {
				return fmt.Errorf("header file: %w", err)
			}
			lines = append(lines, strings.Split(strings.TrimRight(string(data), "\n"), "\n")...)
		}
		for i, line := range lines {
			name, value, ok := strings.Cut(line, ":")
			if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(line, "\r\n") {
				return fmt.Errorf("header %d: want name: value on one line", i+1) // the value is a secret
			}
			*u.into = append(*u.into, rawmcp.Header{Name: name, Value: strings.TrimSpace(value)})
		}
	}
	return nil
}

// scope reads which tools, flows and checks are meant.
func (f *reviewFlags) scope() error {
	f.options.Checks = f.checks
	given := review.Given{}
	for name, text := range map[string]string{"--args": f.args, "--other": f.other} {
		if text == "" {
			continue
		}
		if len(f.tools) != 1 {
			return fmt.Errorf("%s belongs to one --tool, got %d", name, len(f.tools))
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("%s: %w; want a JSON object", name, err)
		}
		if name == "--args" {
			given.Arguments = json.RawMessage(text)
		} else {
			given.Other = json.RawMessage(text)
		}
	}
	for _, tool := range f.tools {
		if f.options.Tools == nil {
			f.options.Tools = map[string]review.Given{}
		}
		f.options.Tools[tool] = given
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
	tokens, err := review.ReadTraffic(file)
	if err != nil {
		return fmt.Errorf("%s: %w", f.har, err)
	}
	f.options.Target.URL = f.har
	fmt.Fprintf(cmd.ErrOrStderr(), "%d tokens in %s\n", len(tokens), f.har)
	return f.finish(cmd, review.Traffic(tokens, f.options.Secrets, f.checks), nil)
}

// restarter returns a function that runs the command of --restart and waits until
// the server answers again.
func (f *reviewFlags) restarter() (func(context.Context) error, error) {
	words := strings.Fields(f.restart)
	if len(words) == 0 {
		return nil, nil
	}
	client, err := rawmcp.NewHTTP(f.options.Target.URL, rawmcp.Limits{Time: time.Second})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %q", f.restart, err, out)
		}
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		for {
			if e := client.Do(ctx, rawmcp.Request{Verb: "GET", Path: client.Path(), Head: true, Headers: []rawmcp.Header{{Name: "Host", Value: client.Host()}}}); e.Status != 0 {
				return nil
			}
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return fmt.Errorf("no answer within a minute after %q", f.restart)
			}
		}
	}, nil
}

// openRecord opens the file of --record.
func (f *reviewFlags) openRecord() (end func() error, err error) {
	if f.record == "" {
		return func() error { return nil }, nil
	}
	file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	enc := json.NewEncoder(file)
	var failed error
	f.options.Record = func(e *rawmcp.Exchange) {
		line := map[string]any{"sent": string(e.Sent), "received": string(e.Received), "status": e.Status, "took_ms": e.Took.Milliseconds()}
		if e.Err != nil {
			line["error"] = e.Err.Error()
		}
		if err := enc.Encode(line); err != nil && failed == nil {
			failed = fmt.Errorf("record: %w", err)
		}
	}
	return func() error {
		if err := file.Close(); failed == nil && err != nil {
			failed = fmt.Errorf("record: %w", err)
		}
		return failed
	}, nil
}

// announce prints the plan before the first exchange.
func (f *reviewFlags) announce(w io.Writer) {
	o := f.options
	target := o.Target.URL
	if target == "" {
		target = strings.Join(o.Target.Command, " ")
	}
	mode := "no question is answered; tools are called only if they are named, claim to read only, or are likely to ask first"
	if o.Effects {
		mode = "questions are answered and tools run to their end"
	}
	fmt.Fprintf(w, "reviewing %s: at most %d exchanges, at most %v for a start; %s\n", target, o.Budget, o.Limits.Start, mode)
	if len(o.Tools) > 0 {
		fmt.Fprintf(w, "tools that may be called: %s\n", strings.Join(f.tools, ", "))
	}
}

// report prints and writes the outcome and judges it.
func (f *reviewFlags) report(w, notes io.Writer, report *review.Report) error {
	file := "findings.json"
	if f.out != "" {
		file = f.out + "/review-" + time.Now().UTC().Format("20060102T150405Z") + "/" + file
	}
	all, err := f.findings(report, file)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.write(strings.TrimSuffix(file, "/findings.json"), report, all); err != nil {
			return err
		}
		fmt.Fprintf(notes, "wrote %s\n", strings.TrimSuffix(file, "/findings.json"))
	}
	if f.format == "text" {
		if err := summary(w, report); err != nil {
			return err
		}
	}
	if err := forms[f.format](w, all); err != nil {
		return err
	}
	limit := slices.Index(severities, f.failOn)
	for _, x := range all {
		if slices.Index(severities, string(x.Severity)) <= limit {
			return cli.ErrRefuted
		}
	}
	if !slices.ContainsFunc(report.Outcomes, func(o review.Outcome) bool { return o.Outcome != review.NotTested }) {
		return fmt.Errorf("review: no check could be carried out: %s", report.Outcomes[0].Reason)
	}
	if len(report.Unseen) > 0 && len(report.Flows) == 0 {
		return fmt.Errorf("review: %s", unseen(report))
	}
	return nil
}

// unseen says which tools may ask and were not called.
func unseen(report *review.Report) string {
	return fmt.Sprintf("%d tools that may ask were not called, so that their states are not tested: %s; --tool names tools to review, --effects allows all", len(report.Unseen), strings.Join(report.Unseen, ", "))
}

func explainCheck(w io.Writer, id string) error {
	for _, c := range review.Checks() {
		if c.ID == id {
			_, err := w.Write(c.Page())
			return err
		}
	}
	return fmt.Errorf("--explain %q: no such check; --list lists them", id)
}

func listChecks(w io.Writer, asJSON bool) error {
	d := questionsDocument{Format: questionsFormat, Command: "sealab review"}
	t := table.New("llll").AtMargin()
	for _, c := range review.Checks() {
		needs := ""
		if c.Effects {
			needs = "needs --effects"
		}
		severity := string(findings.Severity(c.Severity))
		d.Questions = append(d.Questions, questionDocument{ID: c.ID, Name: c.Name, Severity: severity, Skipped: needs})
		t.Row(c.ID, severity, c.Name, needs)
	}
	if asJSON {
		return writeJSON(w, d)
	}
	return t.Write(w)
}
