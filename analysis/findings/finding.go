// Package findings turns the outcomes of a run of attacks into findings: the property, the evidence, the
// impact, the repair, and a command that reproduces it. It reads the files that the attacks wrote.
//
// A refuted property is a finding if the design claims it (critical or warning, by severity) or does not
// mention it (suggestion: an observation). Refuting a property that the design disclaims is expected: the
// table shows it, but it is not a finding.
//
// The JSON form is an array sorted by severity; the schema in this package describes it. Markdown, text
// and SARIF 2.1.0 (OASIS, 27 March 2020) are made from the same values.
package findings

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/sdk"
	"sealab/internal/schema"
	"sealab/internal/verdict"
)

// A Severity is the severity of a finding.
type Severity string

// The severities, worst first.
const (
	Critical   Severity = "critical"
	Warning    Severity = "warning"
	Suggestion Severity = "suggestion"
)

var severities = []Severity{Critical, Warning, Suggestion}

// A Finding is one property of one design that one attack refuted.
type Finding struct {
	ID           string          `json:"id"` // stable: derived from design, attack and property
	Severity     Severity        `json:"severity"`
	Category     codecs.Property `json:"category"`
	Location     Location        `json:"location"`
	Issue        string          `json:"issue"`
	Sent         string          `json:"-"` // the requests that a check of a review sends
	Evidence     string          `json:"evidence"`
	Impact       string          `json:"impact"`
	Fix          string          `json:"fix"`
	Verification string          `json:"verification"` // a command
	// Confirmed is the independent confirmation of a finding about an SDK or library.
	Confirmed *Confirmation `json:"confirmed,omitempty"`
	// Recipe replays a finding of a review; see package review.
	Recipe json.RawMessage `json:"recipe,omitempty"`
	// Reproducer replays an attack. It is nil if the evidence is times or lines of code, which cannot be
	// replayed.
	Reproducer *verdict.Reproducer `json:"witness,omitempty"`
}

// A Confirmation shows a finding to the maintainers of a library, without the laboratory.
type Confirmation struct {
	Shows  string `json:"shows"`  // the fault, with its place in the source
	Line   string `json:"line"`   // of shell, in the library's own language
	Prints string `json:"prints"` // the end of its output
}

// Confirm adds to each finding the matching reproducer, by subject and property.
func Confirm(all []Finding, reproducers []sdk.Reproducer) {
	for i, f := range all {
		for _, r := range reproducers {
			if f.Location.Design == r.Subject && string(f.Category) == r.Property {
				all[i].Confirmed = &Confirmation{r.Shows, r.Line, r.Prints}
			}
		}
	}
}

// A Location is the place of a finding.
type Location struct {
	Design string      `json:"design,omitempty"`
	Kind   codecs.Kind `json:"kind,omitempty"`
	Worker []string    `json:"worker,omitempty"` // the command of a worker
	// Options are the options that were chosen, by name.
	Options map[string]string `json:"options,omitempty"`
	Attack  string            `json:"attack"`
	// Word is the design's claim about the property.
	Word verdict.Claim `json:"word,omitempty"`
	// Server is the live server of a review, instead of a design.
	Server *Server `json:"server,omitempty"`
}

// A Server is the place of a finding on a live server.
type Server struct {
	Target    string `json:"target"` // URL or command
	Transport string `json:"transport"`
	Revision  string `json:"revision"`
	Method    string `json:"method,omitempty"`
	Name      string `json:"name,omitempty"` // of the tool, prompt or resource
}

// Subject returns a one-line name of the place of a finding.
func (l Location) Subject() string {
	if l.Server == nil {
		return l.Design
	}
	return strings.TrimSpace(l.Server.Target + " " + l.Server.Method + " " + l.Server.Name)
}

// claim returns the design's claim about the property, in parentheses. It returns "" for a server.
func (l Location) claim() string {
	if l.Server != nil {
		return ""
	}
	return fmt.Sprintf(" (%s)", claimText[l.Word])
}

// Of returns the findings of a run, sorted by severity, design, property and attack. file is the name of
// the file that will contain them.
func Of(run *verdict.Run, file string) []Finding {
	all := []Finding{}
	for _, s := range run.Designs {
		for _, c := range s.Results {
			if c.Outcome == verdict.Refuted && c.Claim != verdict.Disclaims && c.Reproducer != nil {
				all = append(all, of(s, c, file))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
			cmp.Compare(a.Location.Design, b.Location.Design),
			cmp.Compare(a.Category, b.Category),
			cmp.Compare(a.Location.Attack, b.Location.Attack),
		)
	})
	return all
}

func of(s verdict.Design, c verdict.Result, file string) Finding {
	id := ID(s.Name, c.Attack, c.Property)
	return Finding{
		ID: id, Severity: severity(c), Category: c.Property,
		Location:     Location{Design: s.Name, Kind: s.Kind, Worker: s.Worker, Options: s.Options, Attack: c.Attack, Word: c.Claim},
		Issue:        c.Name + ": " + c.Issue,
		Evidence:     evidence(*c.Reproducer),
		Impact:       "an attacker gains: " + c.Gain,
		Fix:          Repair(c.Property),
		Verification: replayCommand(file, id, s.Worker),
		Reproducer:   c.Reproducer,
	}
}

// replayCommand returns the shell command that reproduces a finding. It includes the command of a worker,
// because sealab replay never takes that from the file.
func replayCommand(file, id string, worker []string) string {
	line := "sealab replay " + file + " " + id
	if len(worker) > 0 {
		line += " --worker '" + strings.ReplaceAll(strings.Join(worker, " "), "'", `'\''`) + "'"
	}
	return line
}

// ID returns the ID of the finding that an attack refuted a property of a design.
func ID(design, attack string, p codecs.Property) string {
	sum := sha256.Sum256([]byte(design + "\x00" + attack + "\x00" + string(p)))
	return "F-" + hex.EncodeToString(sum[:5])
}

// severity returns the severity of a refuted property. It is critical if the design claims the property
// and losing it lets an attacker in. It is a warning if losing it lets no attacker in or gains one little.
// It is a suggestion if the design does not claim the property.
func severity(c verdict.Result) Severity {
	switch {
	case c.Claim != verdict.Stated:
		return Suggestion
	case slices.Contains(lettingThrough, c.Property) && !c.Minor:
		return Critical
	default:
		return Warning
	}
}

// lettingThrough lists the properties whose loss directly gives an attacker a token, a state or a key.
var lettingThrough = []codecs.Property{
	codecs.Integrity, codecs.Confidentiality, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments,
	codecs.BindsPrincipal, codecs.BindsAudience, codecs.Unambiguous, codecs.Expiry, codecs.FreshNonces,
	codecs.KeySeparation, codecs.KeyCommitting, codecs.SenderAuthenticated, codecs.SingleUse,
}

// Accusing reports whether a finding contradicts a claim of a design.
func Accusing(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Location.Word == verdict.Stated })
}

// Schema is the JSON Schema (2020-12) of an array of findings.
//
//go:embed schema.json
var Schema []byte

var form = schema.New("urn:sealab:findings:1", Schema)

// Validate returns an error unless data is a valid array of findings.
func Validate(data []byte) error {
	if err := form.Validate(data); err != nil {
		return fmt.Errorf("findings: %w", err)
	}
	return nil
}
