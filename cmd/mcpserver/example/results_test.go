package example_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A suiteCheck is one check of a scenario.
type suiteCheck struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

// A scenario is a scenario of the suite and its results.
type scenario struct {
	Name   string
	Checks []suiteCheck
}

// A suiteVerdict is the verdict on a scenario.
type suiteVerdict string

// The verdicts.
const (
	Passed   suiteVerdict = "passed"
	Expected suiteVerdict = "expected failure"
	Failed   suiteVerdict = "failed"
	Stale    suiteVerdict = "passed, but expected to fail"
	Skipped  suiteVerdict = "skipped"
)

// Judge returns the verdict on a scenario, given the names of the scenarios that are expected to
// fail.
func (s scenario) Judge(expected []string) suiteVerdict {
	listed, succeeded := slices.Contains(expected, s.Name), false
	for _, c := range s.Checks {
		switch c.Status {
		case "SUCCESS":
			succeeded = true
		case "INFO", "SKIPPED":
		default:
			if listed {
				return Expected
			}
			return Failed
		}
	}
	switch {
	case listed:
		return Stale
	case !succeeded:
		return Skipped
	}
	return Passed
}

// Problems returns the checks that did not succeed, one per line.
func (s scenario) Problems() string {
	var lines []string
	for _, c := range s.Checks {
		if c.Status != "SUCCESS" && c.Status != "INFO" {
			lines = append(lines, fmt.Sprintf("%s %s: %s", c.Status, c.ID, c.Message))
		}
	}
	return strings.Join(lines, "\n")
}

var resultFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[0-9-]+Z$`)

// readResults reads the results of the suite in dir, sorted by name. It returns an error if there
// are none.
func readResults(dir string) ([]scenario, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: the suite left no results", dir)
	}
	var all []scenario
	for _, path := range paths {
		name := resultFolder.FindStringSubmatch(filepath.Base(filepath.Dir(path)))
		if name == nil {
			return nil, fmt.Errorf("%s: not a folder of a server scenario", path)
		}
		s := scenario{Name: name[1]}
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &s.Checks)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b scenario) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

var listedName = regexp.MustCompile(`(?m)^  - (\S+)$`)

// expectedFailures returns the names in the suite's file of expected failures.
func expectedFailures(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range listedName.FindAllStringSubmatch(string(data), -1) {
		names = append(names, m[1])
	}
	return names, nil
}
