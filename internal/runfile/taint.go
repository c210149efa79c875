package runfile

import (
	"path/filepath"

	"sealab/internal/atomicfile"
)

// taintExtension is the extension of a taint log.
const taintExtension = ".taint.json"

// A Secret is the value that a run declared undefined.
type Secret string

// The secrets.
const (
	None    Secret = "none"    // no value: the reports are noise of the runtime
	Key     Secret = "key"     // the secrets that open a design
	Payload Secret = "payload" // the bytes that are sealed
)

// A Dependence is the kind of operation that depends on an undefined value.
type Dependence string

// The dependences: two kinds of memcheck errors, and divisions, which memcheck does not report.
const (
	Branch   Dependence = "UninitCondition" // a conditional jump or move
	Address  Dependence = "UninitValue"     // mostly an address
	Division Dependence = "Division"        // a division was executed; see package bench/taint
)

// A Log is the result of one run of one subject.
type Log struct {
	Subject string      `json:"subject"` // a design's name, or a control's
	Secret  Secret      `json:"secret"`
	Expect  Expectation `json:"expect,omitempty"`
	// Line is part of the source line in which a control leaks.
	Line string `json:"line,omitempty"`
	// Failed is the reason why the subject could not run.
	Failed  string            `json:"failed,omitempty"`
	Stamp   map[string]string `json:"stamp"`
	Reports []Report          `json:"reports"`
}

// A Report is a place where an operation depended on an undefined value.
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
	// Tests are the functions whose result alone decides the line's branch: the function that the line
	// calls, and the functions whose result that one returns.
	Tests []string `json:"tests,omitempty"`
}

// Write writes the log into dir.
func (l *Log) Write(dir string) error {
	return atomicfile.WriteJSON(filepath.Join(dir, l.Subject+"."+string(l.Secret)+taintExtension), l, " ")
}

// ReadTaintLogs returns all taint logs in dir, sorted by file name. It fails if there are none.
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
