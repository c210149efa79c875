package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sealab/internal/atomicfile"
	"sealab/internal/verdict"
)

// writeJSON writes v as indented JSON.
func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeAs writes document as JSON, or calls text.
func writeAs(out io.Writer, asJSON bool, document any, text func(io.Writer) error) error {
	if asJSON {
		return writeJSON(out, document)
	}
	return text(out)
}

// namedOr returns the values with the given names or, without names, all.
func namedOr[T any](all []T, names []string, find func(name string) (T, error)) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	var found []T
	for _, name := range names {
		x, err := find(name)
		if err != nil {
			return nil, err
		}
		found = append(found, x)
	}
	return found, nil
}

// requireWritable returns an error if no folder can be created at dir. Commands
// call it before a run of minutes whose results go there. It removes its files.
// An empty dir means that there are no results.
func requireWritable(dir string) error {
	if dir == "" {
		return nil
	}
	there := filepath.Clean(dir)
	_, err := os.Stat(there)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(there) != there {
		there = filepath.Dir(there)
		_, err = os.Stat(there)
	}
	trial := ""
	if err == nil {
		trial, err = os.MkdirTemp(there, ".trial-*")
	}
	if err != nil {
		return fmt.Errorf("results cannot be written to %s: %w", dir, err)
	}
	return os.Remove(trial)
}

// A progress shows the progress of a run: a bar on a terminal, or a few lines
// elsewhere.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	stage    string
	began    time.Time // start of the stage
	shown    int       // the last step shown, of barSteps or lineSteps
}

// The number of steps that are shown for a stage.
const (
	barSteps  = 40
	lineSteps = 4
)

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// show shows that done of total steps of a stage are complete, unless that
// would look the same as before.
func (b *progress) show(stage string, done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := lineSteps
	if b.terminal {
		steps = barSteps
	}
	step := steps * done / max(1, total)
	if stage != b.stage {
		b.stage, b.began = stage, time.Now()
	} else if step == b.shown {
		return
	}
	b.shown = step
	if !b.terminal {
		fmt.Fprintf(b.w, "%s: %d of %d\n", stage, done, total)
		return
	}
	bar := strings.Repeat("#", step) + strings.Repeat(".", steps-step)
	fmt.Fprintf(b.w, "\r\x1b[K%-10s [%s] %3d %%%s", stage, bar, 100*done/max(1, total), b.left(done, total))
}

// left estimates the time until the stage ends.
func (b *progress) left(done, total int) string {
	if done == 0 {
		return ""
	}
	elapsed := time.Since(b.began)
	left := elapsed * time.Duration(total-done) / time.Duration(done)
	return fmt.Sprintf("  %v left", left.Round(time.Second))
}

// end clears the bar.
func (b *progress) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
}

// note prints a line in place of the bar.
func (b *progress) note(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	fmt.Fprintln(b.w, line)
}

func (b *progress) clear() {
	if b.terminal {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// outcomesFormat is the name of the JSON format of outcomes.
const outcomesFormat = "sealab-outcomes/1"

// outcomes holds the answers to the questions that a command asked.
type outcomes struct {
	Format    string     `json:"format"`
	Command   string     `json:"command"`
	Questions []question `json:"questions"`

	json  bool
	junit string
	out   io.Writer // for the JSON form
}

// A question is one test with its outcome.
type question struct {
	Subject string          `json:"subject"` // a design, an SDK, a server or a file
	Name    string          `json:"name"`    // a property, a test, a check or a finding
	Outcome verdict.Outcome `json:"outcome"`
	Detail  string          `json:"detail,omitempty"`
	// Counts reports whether the outcome causes exit status 1.
	Counts bool `json:"counts"`
}

// add adds the flags for machine-readable output to a command.
func (o *outcomes) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "write the outcome of every question as JSON instead of text")
	cmd.Flags().StringVar(&o.junit, "junit", "", "write the outcomes to this `file` too, in the form of JUnit")
	cmd.PreRunE = func(*cobra.Command, []string) error { return o.requireFolder() }
}

// requireFolder returns an error if the folder of --junit does not exist.
// Commands call it before a run of minutes.
func (o *outcomes) requireFolder() error {
	if o.junit == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(o.junit)); err != nil {
		return fmt.Errorf("--junit %s: %w", o.junit, err)
	}
	return nil
}

// begin returns the writer for the command's text.
func (o *outcomes) begin(cmd *cobra.Command) io.Writer {
	o.Format, o.Command, o.Questions, o.out = outcomesFormat, cmd.CommandPath(), []question{}, cmd.OutOrStdout()
	if o.json {
		return io.Discard
	}
	return o.out
}

// ask adds a question. If its outcome is refuted, it counts against the
// subject.
func (o *outcomes) ask(subject, name string, outcome verdict.Outcome, detail string) {
	o.Questions = append(o.Questions, question{subject, name, outcome, detail, outcome == verdict.Refuted})
}

// end writes the requested forms. It returns failed, the outcome of the
// command, unless writing fails.
func (o *outcomes) end(failed error) error {
	if o.json {
		if err := writeJSON(o.out, o); err != nil {
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

func (o *outcomes) junitXML() ([]byte, error) {
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
