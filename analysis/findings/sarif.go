package findings

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sealab/codecs"
)

// The parts of a SARIF 2.1.0 log that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string         `json:"id"`
		Name       string         `json:"name"`
		Short      sarifText      `json:"shortDescription"`
		Full       sarifText      `json:"fullDescription"`
		Help       sarifText      `json:"help"`
		Level      sarifLevel     `json:"defaultConfiguration"`
		Properties sarifRuleProps `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifRuleProps struct {
		Tags      []string `json:"tags"`
		Precision string   `json:"precision"`
		Severity  string   `json:"security-severity"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]string `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

// sarifLevels maps a severity to the level of a result and its score, from 0 to 10, in code scanning
// dashboards.
var sarifLevels = map[Severity]struct{ level, score string }{
	Critical:   {"error", "9.0"},
	Warning:    {"warning", "6.0"},
	Suggestion: {"note", "3.0"},
}

// A Source maps findings to files.
type Source struct {
	Version string // of sealab
	// Locate returns the file and line (from 1) of a finding: the source of a worker, or a file with
	// tokens of the design. The path uses slashes and is relative to the root of the repository.
	Locate func(Finding) (path string, line int)
}

// SARIF returns the findings as a SARIF 2.1.0 log that code scanning accepts. Each attack is a rule, and so is each
// check of a review.
func SARIF(all []Finding, from Source) ([]byte, error) {
	driver := sarifDriver{Name: "sealab", Version: from.Version, Rules: []sarifRule{}}
	results := []sarifResult{}
	for id, of := range byAttack(all) {
		driver.Rules = append(driver.Rules, ruleOf(id, of))
	}
	slices.SortFunc(driver.Rules, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	for _, f := range all {
		path, line := from.Locate(f)
		results = append(results, sarifResult{
			RuleID:    f.Location.Attack,
			RuleIndex: slices.IndexFunc(driver.Rules, func(r sarifRule) bool { return r.ID == f.Location.Attack }),
			Level:     sarifLevels[f.Severity].level,
			Message:   sarifText{Text: fmt.Sprintf("%s: %s: %s", f.Location.Subject(), f.Category, f.Issue)},
			Locations: []sarifLocation{{
				Physical: sarifPhysical{sarifArtifact{escapePath(path)}, sarifRegion{line}},
				Logical:  []sarifLogical{{Name: f.Location.Subject(), Kind: "module"}},
			}},
			Fingerprints: map[string]string{"sealab/v1": f.ID, "primaryLocationLineHash": f.ID},
			Properties: map[string]string{"evidence": f.Evidence, "impact": f.Impact, "verification": f.Verification,
				"property": string(f.Category), "cwe": cwes[f.Category]},
		})
	}
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, Results: results}}}
	data, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("findings as SARIF: %w", err)
	}
	return append(data, '\n'), nil
}

// byAttack groups findings by attack.
func byAttack(all []Finding) map[string][]Finding {
	by := map[string][]Finding{}
	for _, f := range all {
		by[f.Location.Attack] = append(by[f.Location.Attack], f)
	}
	return by
}

// ruleOf returns the rule of an attack or check, with the properties that it refuted in this run and the
// worst severity of its findings.
func ruleOf(id string, of []Finding) sarifRule {
	name, _, _ := strings.Cut(of[0].Issue, ": ")
	fixes, tags := map[codecs.Property]string{}, map[string]bool{}
	worst := of[0].Severity
	for _, f := range of {
		fixes[f.Category] = f.Fix
		if cwe := cwes[f.Category]; cwe != "" {
			tags["external/cwe/"+strings.ToLower(cwe)] = true
		}
		if slices.Index(severities, f.Severity) < slices.Index(severities, worst) {
			worst = f.Severity
		}
	}
	var text, markdown strings.Builder
	for _, p := range slices.Sorted(maps.Keys(fixes)) {
		fmt.Fprintf(&text, "To keep %s: %s.", p, fixes[p])
		fmt.Fprintf(&markdown, "- To keep *%s*: %s.", p, fixes[p])
		if cwe := cwes[p]; cwe != "" { // categories of a review have no CWE
			fmt.Fprintf(&text, " (%s)", cwe)
			fmt.Fprintf(&markdown, " ([%s](%s))", cwe, cweURL(cwe))
		}
		text.WriteString("\n")
		markdown.WriteString("\n")
	}
	return sarifRule{
		ID: id, Name: identifier(name),
		Short: sarifText{Text: name},
		Full:  sarifText{Text: description(name, of[0])},
		Help:  sarifText{Text: text.String(), Markdown: markdown.String()},
		Level: sarifLevel{sarifLevels[worst].level},
		Properties: sarifRuleProps{
			Tags:      append([]string{"security"}, slices.Sorted(maps.Keys(tags))...),
			Precision: "very-high", // each finding was seen twice and has its reproducer
			Severity:  sarifLevels[worst].score,
		},
	}
}

// description describes the attack on tokens, or the check of a server, that found f.
func description(name string, f Finding) string {
	if f.Location.Server == nil {
		return fmt.Sprintf("The attack %q succeeds against a sealed token: %s.", name, f.Impact)
	}
	return fmt.Sprintf("The server fails the check %q. Sent: %s. Impact: %s.", name, f.Sent, f.Impact)
}

// identifier joins the words of a name to one identifier, as SARIF requires for the name of a rule.
func identifier(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// escapePath returns a path as a URI reference for artifactLocation.
func escapePath(path string) string { return (&url.URL{Path: path}).String() }

func cweURL(cwe string) string {
	return "https://cwe.mitre.org/data/definitions/" + strings.TrimPrefix(cwe, "CWE-") + ".html"
}
