package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sealab/analysis/taint"
)

// addJSONFlag adds the flag --json to a command.
func addJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "write JSON instead of text")
}

// The names of the JSON formats that only one function writes.
const (
	probeFormat     = "sealab-leak-probe/1"
	taintFormat     = "sealab-leak-taint/1"
	questionsFormat = "sealab-questions/1"
	sdksFormat      = "sealab-sdks/1"
	minimizeFormat  = "sealab-minimize/1"
	coverFormat     = "sealab-cover/1"
)

// A probeDocument is the JSON output of "leak probe": the files that it wrote.
type probeDocument struct {
	Format  string            `json:"format"`
	Run     string            `json:"run"`    // its folder
	Passes  int               `json:"passes"` // measured in this call
	Skipped []skippedDocument `json:"skipped"`
}

type skippedDocument struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (d probeDocument) writeText(out io.Writer) error {
	fmt.Fprintf(out, "%d passes measured into %s\n", d.Passes, d.Run)
	for _, s := range d.Skipped {
		fmt.Fprintf(out, "skipped: %s: %s\n", s.Name, s.Reason)
	}
	return nil
}

// A taintDocument is the JSON output of "leak taint".
type taintDocument struct {
	Format string `json:"format"`
	Run    string `json:"run"` // its folder
	*taint.Judgement
}

// A questionsDocument lists the attacks or checks of a command as JSON.
type questionsDocument struct {
	Format    string             `json:"format"`
	Command   string             `json:"command"`
	Questions []questionDocument `json:"questions"`
}

type questionDocument struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Layer      string   `json:"layer,omitempty"`
	CWE        int      `json:"cwe,omitempty"`
	Properties []string `json:"properties,omitempty"`
	Severity   string   `json:"severity,omitempty"`
	Skipped    string   `json:"skipped,omitempty"` // reason why it is skipped
}

// A minimizeDocument is the JSON output of "fuzz minimize": the reduced
// corpora.
type minimizeDocument struct {
	Format  string              `json:"format"`
	Targets []minimizedDocument `json:"targets"`
}

type minimizedDocument struct {
	Target   string `json:"target"`
	Inputs   int    `json:"inputs"`
	Kept     int    `json:"kept"`
	Features int    `json:"features"`
}

// A coverDocument is the coverage of the corpora of a campaign as JSON.
type coverDocument struct {
	Format   string            `json:"format"`
	Packages []coveredDocument `json:"packages"`
}

type coveredDocument struct {
	Package string  `json:"package"`
	Percent float64 `json:"percent"` // of statements
}

// coverageOf parses the table of "fuzz cover", which has a line "package
// coverage: 81.2% of statements" for each package.
func coverageOf(table []byte) (coverDocument, error) {
	d := coverDocument{Format: coverFormat, Packages: []coveredDocument{}}
	for line := range strings.Lines(string(table)) {
		var c coveredDocument
		if _, err := fmt.Sscanf(line, "%s coverage: %f%% of statements", &c.Package, &c.Percent); err != nil {
			return d, fmt.Errorf("coverage %q: want a package and a share of statements", strings.TrimSpace(line))
		}
		d.Packages = append(d.Packages, c)
	}
	return d, nil
}
