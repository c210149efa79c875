package attack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/table"
)

// A recipe reproduces a finding of a review. It names the check, the case, and
// how to obtain a token, because tokens cannot be stored.
type recipe struct {
	URL     string        `json:"url,omitempty"` // "" if a command started the server
	Check   string        `json:"check"`
	Case    string        `json:"case"`
	Want    string        `json:"want"`
	Got     string        `json:"got"`
	Flows   []client.Flow `json:"flows,omitempty"`
	Effects bool          `json:"effects,omitempty"`
	OneTime []string      `json:"one_time,omitempty"`
	Also    string        `json:"also,omitempty"`
	Slow    string        `json:"slow,omitempty"`
	Effect  string        `json:"effect,omitempty"`
	Changes string        `json:"changes,omitempty"`
	TTL     time.Duration `json:"ttl_ns,omitempty"`
	Wait    time.Duration `json:"wait_ns,omitempty"`
	Seed    uint64        `json:"seed"`
}

// findings converts the findings of a report to those of package findings.
func (f *reviewFlags) findings(r *review.Report, file string) ([]findings.Finding, error) {
	all := []findings.Finding{}
	byID := map[string]review.Check{}
	for _, c := range checks.All() {
		byID[c.ID] = c
	}
	o := f.options
	for _, x := range r.Findings {
		again, err := json.Marshal(recipe{
			URL: o.Target.URL, Check: x.Check, Case: x.Case, Want: x.Want, Got: x.Got, Flows: r.Flows, Effects: o.Effects, OneTime: o.OneTime,
			Also: o.Target.Also, Slow: o.Slow, Effect: o.Effect, Changes: o.Changes, TTL: o.TTL, Wait: o.Wait, Seed: o.Seed,
		})
		if err != nil {
			return nil, fmt.Errorf("writing the recipe of %s: %w", x.Check, err)
		}
		check := byID[x.Check]
		at := &findings.Server{Target: cmp.Or(o.Target.URL, strings.Join(o.Target.Command, " ")), Transport: r.Server.Transport, Revision: cmp.Or(x.Revision, r.Server.Revisions[0])}
		if x.Flow != nil {
			at.Method, at.Name = x.Flow.Method, x.Flow.Target
		}
		id := findings.ID(at.Target, x.Check, codecs.Property(check.Category+x.Case))
		verify := "sealab replay " + file + " " + id
		if o.Target.URL == "" {
			verify += " --stdio COMMAND"
		}
		if f.har != "" {
			verify, again = "sealab review --har "+f.har+" --checks "+x.Check, nil
		}
		if x.Curl != "" {
			verify += "; or: " + x.Curl
		}
		all = append(all, findings.Finding{
			ID: id, Severity: findings.Severity(x.Severity), Category: codecs.Property(check.Category),
			Location: findings.Location{Attack: x.Check, Server: at},
			Issue:    check.Name + ": " + x.Issue, Sent: check.Sent, Evidence: x.Evidence, Impact: check.Impact, Fix: r.Server.Fix(check),
			Verification: verify, Recipe: again,
		})
	}
	return all, nil
}

// write writes the folder of a review.
func (f *reviewFlags) write(dir string, r *review.Report, all []findings.Finding) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	var text strings.Builder
	if err := printSummary(&text, r); err != nil {
		return err
	}
	return writeFindings(dir, all, map[string][]byte{"report.json": append(raw, '\n'), "summary.txt": []byte(text.String())})
}

// printSummary prints the facts of the server and the outcome of every check.
func printSummary(w io.Writer, r *review.Report) error {
	s := r.Server
	facts := table.New("ll").AtMargin()
	facts.Row("server", fmt.Sprintf("%q %q over %s, revisions %s", s.Name, s.Version, s.Transport, strings.Join(s.Revisions, " ")))
	facts.Row("capabilities", strings.Join(s.Capabilities, " "))
	facts.Row("offers", fmt.Sprintf("%s, %s, %s, %s; risk profile %s by the names of the tools", table.Count(len(s.Tools), "tool"),
		table.Count(len(s.Prompts), "prompt"), table.Count(len(s.Resources), "resource"), table.Count(len(s.Templates), "template"), s.Risk))
	for _, f := range r.Flows {
		facts.Row("flow", fmt.Sprintf("%s, rounds before the token: %d", strings.TrimSpace(fmt.Sprintf("%q %s", f.String(), f.Arguments)), len(f.Rounds)))
	}
	for _, n := range r.Notes {
		facts.Row("note", n)
	}
	if len(r.Unseen) > 0 {
		facts.Row("not called", strings.Join(r.Unseen, ", "))
	}
	facts.Row("exchanges", fmt.Sprintf("%d in %.1f s; tool calls that ran to their end: %d", r.Exchanges, r.Seconds, r.Ran))
	width := table.Width(w)
	var err error
	for _, section := range []string{facts.Text(width), refutedTable(r).Text(width), notRefutedTable(r).Text(cmp.Or(width, paragraphWidth)), untestedTable(r).Text(width)} {
		if section != "" && err == nil {
			_, err = fmt.Fprintln(w, section)
		}
	}
	return err
}

// paragraphWidth is the width of the list of checks that are not refuted, unless it is printed to a terminal.
const paragraphWidth = 100

// refutedTable returns the table of the checks that refuted something.
func refutedTable(r *review.Report) *table.Table {
	names := map[string]string{}
	for _, c := range checks.All() {
		names[c.ID] = c.Name
	}
	t := table.New("lll").AtMargin()
	for _, o := range r.Outcomes {
		if o.Outcome == review.Refuted {
			t.Row(o.Check, o.Outcome, names[o.Check]+": "+o.Reason)
		}
	}
	return t
}

// notRefutedTable returns a table of one row with the checks that refuted nothing.
func notRefutedTable(r *review.Report) *table.Table {
	var ids []string
	for _, o := range r.Outcomes {
		if o.Outcome == review.NotRefuted {
			ids = append(ids, o.Check)
		}
	}
	t := table.New("ll").AtMargin()
	if len(ids) > 0 {
		t.Row(review.NotRefuted, strings.Join(ids, " "))
	}
	return t
}

// untestedTable returns the table of the reasons why checks were not performed,
// with the checks.
func untestedTable(r *review.Report) *table.Table {
	var reasons []string
	checks := map[string][]string{}
	for _, o := range r.Outcomes {
		if o.Outcome != review.NotTested {
			continue
		}
		if checks[o.Reason] == nil {
			reasons = append(reasons, o.Reason)
		}
		checks[o.Reason] = append(checks[o.Reason], o.Check)
	}
	t := table.New("ll").AtMargin()
	for _, reason := range reasons {
		t.Row("not tested", fmt.Sprintf("%s: %s", reason, strings.Join(checks[reason], " ")))
	}
	return t
}

// reproduce reproduces a finding of a review. The error is attack.ErrStands if
// the finding is not reproduced, and another if it could not be tested.
func (f *reviewFlags) reproduce(ctx context.Context, x findings.Finding) error {
	shown, err := f.again(ctx, x)
	if err == nil && !shown {
		return fmt.Errorf("%s: %w", x.Location.Attack, attack.ErrStands)
	}
	return err
}

// again performs the check of a finding for its case only. It reports whether
// the finding is reproduced, or an error if it could not be tested.
func (f *reviewFlags) again(ctx context.Context, x findings.Finding) (bool, error) {
	var r recipe
	if err := json.Unmarshal(x.Recipe, &r); err != nil {
		return false, fmt.Errorf("reading the recipe: %w", err)
	}
	next := *f
	next.also = r.Also
	next.options.Effects, next.options.OneTime, next.options.Seed = r.Effects, r.OneTime, r.Seed
	next.options.Slow, next.options.Effect, next.options.Changes = r.Slow, r.Effect, r.Changes
	next.options.TTL, next.options.Wait = cmp.Or(f.options.TTL, r.TTL), cmp.Or(f.options.Wait, r.Wait)
	next.options.Flows, next.options.Checks, next.options.Case = r.Flows, []string{r.Check}, r.Case
	var target []string
	if r.URL != "" && f.stdio == "" {
		target = []string{r.URL}
	}
	if err := next.target(target); err != nil {
		return false, err
	}
	if err := next.setRestart(); err != nil {
		return false, err
	}
	report, err := review.Run(ctx, checks.All(), next.options)
	if err != nil {
		f.options.Limits.Start = time.Millisecond // later findings do not wait for another start
		return false, err
	}
	if len(report.Findings) > 0 {
		return true, nil
	}
	if o := report.Outcomes[0]; o.Outcome == review.NotTested {
		return false, fmt.Errorf("%s: %s", o.Check, o.Reason)
	}
	return false, nil
}
