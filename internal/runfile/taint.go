package runfile

import (
	"path/filepath"

	"sealab/internal/atomicfile"
)

// taintExtension ends the name of a taint log.
const taintExtension = ".taint.json"

// A Secret is the value that was declared undefined.
type Secret string

// The secrets.
const (
	None    Secret = "none"    // no value: the reports are noise of the runtime
	Key     Secret = "key"     // the bytes of the secrets that a design is set up with
	Payload Secret = "payload" // the bytes that are sealed
)

// A Dependence is the kind of operation that depends on an undefined value.
type Dependence string

// The dependences, as memcheck calls them, and one that it does not know.
const (
	Branch   Dependence = "UninitCondition" // a conditional jump or move
	Address  Dependence = "UninitValue"     // an address, mostly
	Division Dependence = "Division"        // a division was executed; see package bench/taint
)

// A Log is one run of one subject.
type Log struct {
	Subject string      `json:"subject"` // a design's name, or a control's
	Secret  Secret      `json:"secret"`
	Expect  Expectation `json:"expect,omitempty"`
	// Line is a text in the line that a control's leak is in.
	Line string `json:"line,omitempty"`
	// Failed says why the subject could not be run.
	Failed  string            `json:"failed,omitempty"`
	Stamp   map[string]string `json:"stamp"`
	Reports []Report          `json:"reports"`
}

// A Report is one place at which an operation depended on an undefined value.
type Report struct {
	Kind  Dependence `json:"kind"`
	Op    string     `json:"op"`    // open, seal, unseal or refuse
	Stack []Frame    `json:"stack"` // innermost first, up to the operation
}

// A Frame is one line of a stack.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"` // import path of the package, and file
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"` // of the line
	// Tests are the functions on whose result alone the line branches: the one
	// that it calls, and those whose result that one passes on.
	Tests []string `json:"tests,omitempty"`
}

// Write writes the log into dir.
func (l *Log) Write(dir string) error {
	return atomicfile.WriteJSON(filepath.Join(dir, l.Subject+"."+string(l.Secret)+taintExtension), l, " ")
}

// ReadTaintLogs returns all taint logs in dir, by name. It is an error if there is
// no log.
func ReadTaintLogs(dir string) ([]*Log, error) {
	paths, err := filesIn(dir, taintExtension)
	if err != nil {
		return nil, err
	}
	logs := make([]*Log, len(paths))
	for i, path := range paths {
		logs[i] = new(Log)
		if err := atomicfile.ReadJSON(path, logs[i], "a log of memcheck's reports"); err != nil {
			return nil, err
		}
	}
	return logs, nil
}
