// Package findings turns the outcomes of a run of attacks into findings: the
// property, the evidence, the impact, the repair, and the command that shows it
// again. It reads the files that the attacks wrote.
//
// A refuted property is a finding if the design claims it (critical or warning, by
// severity) or does not mention it (suggestion: an observation). A property that
// the design disclaims is expected to fall: the table shows it, and it is not a
// finding.
//
// The JSON form is an array, sorted by severity, that the schema in this package
// describes. Markdown, text and SARIF 2.1.0 (OASIS, 27 March 2020) are made from
// the same values.
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

// A Severity says how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	Critical   Severity = "critical"
	Warning    Severity = "warning"
	Suggestion Severity = "suggestion"
)

var severities = []Severity{Critical, Warning, Suggestion}

// A Finding is one property of one design that fell to one attack.
type Finding struct {
	ID           string          `json:"id"` // stable: it names design, attack and property
	Severity     Severity        `json:"severity"`
	Category     codecs.Property `json:"category"`
	Location     Location        `json:"location"`
	Issue        string          `json:"issue"`
	Evidence     string          `json:"evidence"`
	Impact       string          `json:"impact"`
	Fix          string          `json:"fix"`
	Verification string          `json:"verification"` // a command
	// Confirmed is the second look at a finding about an SDK or library.
	Confirmed *Confirmation `json:"confirmed,omitempty"`
	// Recipe replays a finding of a review: see package review.
	Recipe json.RawMessage `json:"recipe,omitempty"`
	// Reproducer replays an attack. It is nil if times or lines of code are the
	// evidence, which cannot be replayed.
	Reproducer *verdict.Reproducer `json:"witness,omitempty"`
}

// A Confirmation shows a finding without the laboratory, to the maintainers of a library.
type Confirmation struct {
	Shows  string `json:"shows"`  // the fault, with its place in the source
	Line   string `json:"line"`   // of shell, in the library's own language
	Prints string `json:"prints"` // the end of its output
}

// Confirm adds the reproducer of each finding that has one, by subject and property.
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
	// Options are those of the subject that were chosen, by name.
	Options map[string]string `json:"options,omitempty"`
	Attack  string            `json:"attack"`
	// Word is the claim of the design about the property.
	Word verdict.Claim `json:"word,omitempty"`
	// Server is the live server of a review, in the place of a design.
	Server *Server `json:"server,omitempty"`
}

// A Server is the place of a finding on a live server.
type Server struct {
	Target    string `json:"target"` // URL, or the words of the command
	Transport string `json:"transport"`
	Revision  string `json:"revision"`
	Method    string `json:"method,omitempty"`
	Name      string `json:"name,omitempty"` // of the tool, prompt or resource
}

// Subject names the place of a finding in a line.
func (l Location) Subject() string {
	if l.Server == nil {
		return l.Design
	}
	return strings.TrimSpace(l.Server.Target + " " + l.Server.Method + " " + l.Server.Name)
}

// claim returns the claim of a design about the property, in parentheses. It is
// empty for a server.
func (l Location) claim() string {
	if l.Server != nil {
		return ""
	}
	return fmt.Sprintf(" (%s)", l.Word)
}

// Of returns the findings of a run, sorted by severity, design, property and
// attack. file is the name under which they will be found.
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

// replayCommand returns the line of shell that shows a finding again. The command
// of a worker is a part of it: sealab replay never takes it from the file.
func replayCommand(file, id string, worker []string) string {
	line := "sealab replay " + file + " " + id
	if len(worker) > 0 {
		line += " --worker '" + strings.ReplaceAll(strings.Join(worker, " "), "'", `'\''`) + "'"
	}
	return line
}

// ID returns the id of the finding that a design lacks a property, as one attack
// shows.
func ID(design, attack string, p codecs.Property) string {
	sum := sha256.Sum256([]byte(design + "\x00" + attack + "\x00" + string(p)))
	return "F-" + hex.EncodeToString(sum[:5])
}

// severity returns the severity of a refuted property: critical if a design claims
// it and it lets an attacker in, a warning if it does not let one in or gains one little, a
// suggestion if the design does not claim it.
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

// lettingThrough are the properties whose fall gives an attacker a token, a
// state or a key at once.
var lettingThrough = []codecs.Property{
	codecs.Integrity, codecs.Confidentiality, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments,
	codecs.BindsPrincipal, codecs.BindsAudience, codecs.Unambiguous, codecs.Expiry, codecs.FreshNonces,
	codecs.KeySeparation, codecs.KeyCommitting, codecs.SenderAuthenticated, codecs.SingleUse,
}

// Accusing reports whether any finding contradicts a claim of a design.
func Accusing(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Location.Word == verdict.Stated })
}

// Schema is the JSON Schema (2020-12) of an array of findings.
//
//go:embed schema.json
var Schema []byte

var form = schema.New("urn:sealab:findings:1", Schema)

// Validate checks that data is an array of findings.
func Validate(data []byte) error {
	if err := form.Validate(data); err != nil {
		return fmt.Errorf("findings: %w", err)
	}
	return nil
}
