package reference

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"sealab/codecs/catalog"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// pythonProgram reads lines of hexadecimal documents separated by spaces. It answers each with
// their compact sorted forms, or "-" if json.loads refuses a document.
const pythonProgram = `
import json, sys
def form(text):
    try:
        value = json.loads(bytes.fromhex(text).decode("utf-8", "surrogatepass"))
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii").hex()
    except (ValueError, RecursionError):
        return "-"
for line in sys.stdin:
    print(" ".join(form(text[1:]) for text in line.split()), flush=True)
`

// An interpreter is a python3 process that answers line by line.
type interpreter struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
	err error
}

var pythonProcess = sync.OnceValue(func() *interpreter {
	cmd := exec.Command("python3", "-c", pythonProgram)
	in, err := cmd.StdinPipe()
	if err != nil {
		return &interpreter{err: err}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return &interpreter{err: err}
	}
	// The process ends with this one, when its standard input closes.
	return &interpreter{in: in, out: bufio.NewReader(out), err: cmd.Start()}
})

// forms returns the compact forms that Python gives for the documents.
func (i *interpreter) forms(documents [][]byte) ([]string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return nil, fmt.Errorf("python3: %w", i.err)
	}
	var line strings.Builder
	for _, d := range documents {
		line.WriteString("x" + hex.EncodeToString(d) + " ")
	}
	if _, i.err = io.WriteString(i.in, line.String()+"\n"); i.err != nil {
		return nil, fmt.Errorf("python3: %w", i.err)
	}
	answer, err := i.out.ReadString('\n')
	if i.err = err; err != nil {
		return nil, fmt.Errorf("python3: %w", err)
	}
	return strings.Fields(answer), nil
}

// maxDigits limits the length of a document, so that Python can read its integers and its
// nesting.
const maxDigits = 512

// Python compares compact JSON with that of Python's json module.
func Python(p *program.Program) error {
	var documents [][]byte
	for len(documents) < 64 && !p.Done() {
		documents = append(documents, p.Bytes(maxDigits))
	}
	if len(documents) == 0 {
		return nil
	}
	forms, err := pythonProcess().forms(documents)
	if err != nil {
		return err
	}
	if len(forms) != len(documents) {
		return fmt.Errorf("python3 answered %d of %d documents", len(forms), len(documents))
	}
	for i, d := range documents {
		got := "-"
		if form, err := catalog.AppendSortedJSON(nil, d); err == nil {
			got = hex.EncodeToString(form)
		}
		if got != forms[i] {
			return harness.Fail("", "compactjson differs from Python", "%s, Python %s: %q", got, forms[i], d)
		}
	}
	return nil
}

// PythonSeeds returns the documents, one per input, and all in one input.
func PythonSeeds() ([][]byte, error) {
	var all program.Writer
	var seeds [][]byte
	for _, d := range Documents {
		var w program.Writer
		seeds = append(seeds, w.Bytes([]byte(d)).Program())
		all.Bytes([]byte(d))
	}
	return append(seeds, all.Program()), nil
}
