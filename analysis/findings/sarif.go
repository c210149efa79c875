package findings

import (
	"encoding/json"
	"fmt"
	"slices"
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
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID   string    `json:"id"`
		Help sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
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
		Logical []sarifLogical `json:"logicalLocations"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

var sarifLevels = map[Severity]string{Critical: "error", Warning: "warning", Suggestion: "note"}

// SARIF returns the findings as a SARIF 2.1.0 log. A rule is a property; a
// finding's location is its design, which has no file.
func SARIF(all []Finding) ([]byte, error) {
	run := sarifRun{Tool: sarifTool{Driver: sarifDriver{Name: "sealab", Rules: []sarifRule{}}}, Results: []sarifResult{}}
	for _, f := range all {
		rule := slices.IndexFunc(run.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == f.rule() })
		if rule < 0 {
			rule = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: f.rule(), Help: sarifText{f.Fix}})
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: f.rule(), RuleIndex: rule, Level: sarifLevels[f.Severity],
			Message:      sarifText{f.Location.subject() + ": " + f.Issue},
			Locations:    []sarifLocation{{Logical: []sarifLogical{{Name: f.Location.subject(), Kind: "module"}}}},
			Fingerprints: map[string]string{"sealab/v1": f.ID},
			Properties:   map[string]string{"evidence": f.Evidence, "impact": f.Impact, "verification": f.Verification, "attack": f.Location.Attack},
		})
	}
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
	data, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("sealab: findings: %w", err)
	}
	return append(data, '\n'), nil
}

// rule is the rule of a finding: the property of a design, or the check of a
// review.
func (f Finding) rule() string {
	if f.Location.Server != nil {
		return f.Location.Attack
	}
	return string(f.Category)
}
