package cli

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sealab/internal/atomicfile"
	"sealab/internal/verdict"
)

// OutcomesFormat is the name of the JSON format of outcomes.
const OutcomesFormat = "sealab-outcomes/1"

// Outcomes holds the answers to the questions that a command asked.
type Outcomes struct {
	Format    string     `json:"format"`
	Command   string     `json:"command"`
	Questions []Question `json:"questions"`

	AsJSON bool `json:"-"` // the value of --json
	junit  string
	out    io.Writer // for the JSON form
}

// A Question is one test with its outcome.
type Question struct {
	Subject string          `json:"subject"` // a design, an SDK, a server or a file
	Name    string          `json:"name"`    // a property, a test, a check or a finding
	Outcome verdict.Outcome `json:"outcome"`
	Detail  string          `json:"detail,omitempty"`
	// Counts reports whether the outcome causes exit status 1.
	Counts bool `json:"counts"`
}

// AddFlags adds the flags for machine-readable output to a command. A run of minutes does not start if the
// folder of --junit does not exist.
func (o *Outcomes) AddFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.AsJSON, "json", false, "write the outcome of every question as JSON instead of text")
	cmd.Flags().StringVar(&o.junit, "junit", "", "write the outcomes to this `file` too, in the form of JUnit")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if o.junit == "" {
			return nil
		}
		if _, err := os.Stat(filepath.Dir(o.junit)); err != nil {
			return fmt.Errorf("--junit %s: %w", o.junit, err)
		}
		return nil
	}
}

// Begin returns the writer for the command's text.
func (o *Outcomes) Begin(cmd *cobra.Command) io.Writer {
	o.Format, o.Command, o.Questions, o.out = OutcomesFormat, cmd.CommandPath(), []Question{}, cmd.OutOrStdout()
	if o.AsJSON {
		return io.Discard
	}
	return o.out
}

// Ask adds a question. If its outcome is refuted, it counts against the
// subject.
func (o *Outcomes) Ask(subject, name string, outcome verdict.Outcome, detail string) {
	o.Questions = append(o.Questions, Question{subject, name, outcome, detail, outcome == verdict.Refuted})
}

// End writes the requested forms. It returns failed, the outcome of the
// command, unless writing fails.
func (o *Outcomes) End(failed error) error {
	if o.AsJSON {
		if err := WriteJSON(o.out, o); err != nil {
			return err
		}
	}
	if o.junit == "" {
		return failed
	}
	text, err := o.junitXML()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.junit, text); err != nil {
		return err
	}
	return failed
}

// The JUnit format that CI systems read, with a suite for each subject.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

func (o *Outcomes) junitXML() ([]byte, error) {
	all := junitSuites{Name: o.Command, Tests: len(o.Questions)}
	at := map[string]int{}
	for _, q := range o.Questions {
		i, ok := at[q.Subject]
		if !ok {
			i = len(all.Suites)
			at[q.Subject] = i
			all.Suites = append(all.Suites, junitSuite{Name: q.Subject})
		}
		suite, c := &all.Suites[i], junitCase{Class: q.Subject, Name: q.Name}
		suite.Tests++
		switch {
		case q.Counts:
			c.Failure = &junitMessage{q.Detail}
			suite.Failures++
			all.Failures++
		case q.Outcome == verdict.NotTested:
			c.Skipped = &junitMessage{q.Detail}
			suite.Skipped++
			all.Skipped++
		default:
			c.Output = q.Detail
		}
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(all, "", " ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// QuestionsFormat is the name of the JSON format of questions.
const QuestionsFormat = "sealab-questions/1"

// A QuestionsDocument lists the attacks or checks of a command as JSON.
type QuestionsDocument struct {
	Format    string             `json:"format"`
	Command   string             `json:"command"`
	Questions []QuestionDocument `json:"questions"`
}

type QuestionDocument struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Layer      string   `json:"layer,omitempty"`
	CWE        int      `json:"cwe,omitempty"`
	Properties []string `json:"properties,omitempty"`
	Severity   string   `json:"severity,omitempty"`
	Skipped    string   `json:"skipped,omitempty"` // reason why it is skipped
}
