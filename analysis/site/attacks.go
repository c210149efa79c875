package site

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sealab/analysis/findings"
	"sealab/internal/atomicfile"
	"sealab/internal/page"
	"sealab/internal/runfile"
)

// An attackRun is a run of attacks.
type attackRun struct {
	Path     string
	Findings []findings.Finding
	subjects []string
	outcomes map[string]map[string]string // by subject and property
}

func readFindings(dir string) ([]findings.Finding, error) {
	data, err := os.ReadFile(filepath.Join(dir, runfile.MainFile(runfile.Attack)))
	if err != nil {
		return nil, err
	}
	return findings.Read(data)
}

func loadAttack(dir string) (*attackRun, error) {
	all, err := readFindings(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "table.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	a := &attackRun{Path: dir, Findings: all, outcomes: map[string]map[string]string{}}
	a.read(string(text))
	return a, nil
}

// read parses the table of a run: a line for each subject, with a cell for each property.
func (a *attackRun) read(markdown string) {
	var properties []string
	for line := range strings.Lines(markdown) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 2 || strings.HasPrefix(cells[0], "---"):
		case cells[0] == "design":
			properties = cells[1:]
		default:
			a.subjects = append(a.subjects, cells[0])
			outcomes := map[string]string{}
			for i, cell := range cells[1:min(len(cells), 1+len(properties))] {
				// Older runs write "falls" for "refuted".
				outcomes[properties[i]] = strings.Replace(cell, "falls (disclaimed)", "refuted (disclaimed)", 1)
			}
			a.outcomes[cells[0]] = outcomes
		}
	}
}

// matrix returns a table of subjects by properties.
func (a *attackRun) matrix(s *site) template.HTML {
	t := page.Table{Caption: "Outcomes by subject and property", Class: "matrix", Plain: true, Slim: true, Tall: true, Columns: []page.Column{{Name: "subject"}}}
	for _, p := range s.Properties {
		t.Columns = append(t.Columns, page.Column{Name: string(p.Property)})
	}
	for _, name := range a.subjects {
		row := page.Row{Cells: []page.Cell{{Text: name}}}
		for _, d := range s.Designs {
			if d.Name == name {
				row.Cells[0].Href = d.File
			}
		}
		for _, p := range s.Properties {
			outcome := cmp.Or(a.outcomes[name][string(p.Property)], "-")
			class := outcomeClass(outcome)
			row.Cells = append(row.Cells, page.Cell{Mark: cmp.Or(markByClass[class], " "), Class: class, Text: string(p.Property) + ": " + outcome})
		}
		t.Rows = append(t.Rows, row)
	}
	return t.HTML()
}

// outcomeClass returns the CSS class of an outcome.
func outcomeClass(outcome string) string {
	switch {
	case strings.Contains(outcome, "(disclaimed)"):
		return "quiet"
	case strings.HasPrefix(outcome, "refuted"):
		return "bad"
	case strings.HasPrefix(outcome, "not refuted"):
		return "good"
	case strings.HasPrefix(outcome, NotTested):
		return "warn"
	}
	return ""
}

// A reviewRun is a review of a live server.
type reviewRun struct {
	Path     string
	Findings []findings.Finding `json:"-"` // the report stores them separately
	Server   struct {
		Name      string   `json:"name"`
		Version   string   `json:"version"`
		Transport string   `json:"transport"`
		Revisions []string `json:"revisions"`
		Risk      string   `json:"risk"`
	} `json:"server"`
	Outcomes []struct {
		Check   string `json:"check"`
		Outcome string `json:"outcome"`
		Reason  string `json:"reason"`
		Trials  int    `json:"trials"`
	} `json:"outcomes"`
	Exchanges int     `json:"exchanges"`
	Seconds   float64 `json:"seconds"`
}

func loadReview(dir string) (*reviewRun, error) {
	all, err := readFindings(dir)
	if err != nil {
		return nil, err
	}
	r := &reviewRun{}
	err = atomicfile.ReadJSON(filepath.Join(dir, "report.json"), r, "the report of a review")
	r.Path, r.Findings = dir, all
	return r, err
}

func (r *reviewRun) table() template.HTML {
	t := page.Table{Caption: "Outcome of every check", Columns: page.Head("check", "outcome", "#trials", "reason"), Tall: true, Tools: &page.Tools{
		Search: "search checks", Facets: []page.Facet{{Label: "outcome", Key: "outcome", Values: []string{"refuted", "not-refuted", "not-tested"}}}}}
	for _, o := range r.Outcomes {
		t.Rows = append(t.Rows, page.Row{Data: map[string]string{"outcome": strings.ReplaceAll(o.Outcome, " ", "-")}, Cells: []page.Cell{
			{Text: o.Check}, {Text: o.Outcome, Class: outcomeClass(o.Outcome)}, {Text: fmt.Sprint(o.Trials)}, {Text: o.Reason},
		}})
	}
	return t.HTML()
}

// A findingsPage is the data of a page with findings.
type findingsPage struct {
	When     string
	Findings []findings.Finding
	Accusing int
	Subjects int
	Review   *reviewRun
	Checks   map[string]int // by outcome
	Table    template.HTML
	List     template.HTML
}

func (s *site) writeAttacks() error {
	switch {
	case s.Attack != nil:
		p := findingsPage{When: stampOf(s.Attack.Path), Findings: s.Attack.Findings, Accusing: countAccusing(s.Attack.Findings), Subjects: len(s.Attack.subjects),
			Table: s.Attack.matrix(s), List: findingCards(s.Attack.Findings, &page.Tools{})}
		if err := s.add("attacks.html", "Attacks", "Attacks", "The outcome of every attack on the guarantees of designs, SDKs and Go libraries, and the findings.", "attacks", p); err != nil {
			return err
		}
	case !s.alone():
		if err := s.missing("attacks.html", "Attacks", "make attack"); err != nil {
			return err
		}
	}
	if s.Review == nil {
		if s.alone() {
			return nil
		}
		return s.missing("review.html", "Review", "sealab review URL --out results")
	}
	p := findingsPage{When: stampOf(s.Review.Path), Findings: s.Review.Findings, Review: s.Review, Table: s.Review.table(), List: findingCards(s.Review.Findings, &page.Tools{}), Checks: map[string]int{}}
	for _, o := range s.Review.Outcomes {
		p.Checks[o.Outcome]++
	}
	return s.add("review.html", "Review", "Review of a live server", "The outcome of every check of a server of the Model Context Protocol, and the findings.", "review", p)
}

// severityClass maps a severity to its CSS class.
var severityClass = map[findings.Severity]string{findings.Critical: "bad", findings.Warning: "warn", findings.Suggestion: "quiet"}

// verifyCommand matches the command at the beginning of a verification.
var verifyCommand = regexp.MustCompile(`^sealab [^;]*`)

// A shownFinding is a finding with the texts for its card.
type shownFinding struct {
	findings.Finding
	Class, Command string
	Rank           int // of the severity
	Subject        string
}

// findingCards returns findings as cards. If tools is nil, there is no filter.
func findingCards(all []findings.Finding, tools *page.Tools) template.HTML {
	var shown []shownFinding
	var severities, categories, subjects []string
	for _, f := range all {
		rank := map[findings.Severity]int{findings.Critical: 1, findings.Warning: 2, findings.Suggestion: 3}[f.Severity]
		shown = append(shown, shownFinding{f, severityClass[f.Severity], cmp.Or(verifyCommand.FindString(f.Verification), f.Verification), rank, f.Location.Subject()})
		severities, categories = append(severities, string(f.Severity)), append(categories, string(f.Category))
		subjects = append(subjects, f.Location.Design)
	}
	if tools != nil {
		tools.Search, tools.Orders = "search findings", []string{"severity", "subject", "category"}
		tools.Facets = []page.Facet{{Label: "severity", Key: "level", Values: distinctTexts(severities)}, {Label: "property", Key: "category", Values: distinctTexts(categories)}}
		if names := distinctTexts(subjects); len(names) > 1 {
			tools.Facets = append(tools.Facets, page.Facet{Label: "design", Key: "design", Values: names})
		}
	}
	var b strings.Builder
	// The template cannot fail, because its data are types of this package.
	if err := bodyTemplates.ExecuteTemplate(&b, "findings", struct {
		Tools *page.Tools
		All   []shownFinding
	}{tools, shown}); err != nil {
		panic("site: " + err.Error())
	}
	return template.HTML(b.String()) //nolint:gosec // made by html/template
}
