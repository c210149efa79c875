package taint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"sealab/internal/taintfile"
)

// programPath is the import path of what runs under valgrind.
const programPath = "sealab/bench/taint/program"

// experiments are the settings of the toolchain under which valgrind can read
// the program's debug information and its heap lies at a fixed place.
const experiments = "nodwarf5,norandomizedheapbase64"

// A program is a built program with what is known of it.
type program struct {
	path      string
	valgrind  string
	sources   map[string]string // folder of each package, by import path
	divisions map[string]bool   // addresses of its division instructions, as 0x...
	listing
}

// listing is what the program says of itself.
type listing struct {
	Subjects     []taintfile.Log
	AVX2, AVX512 bool
}

// build builds the program into dir from the module's source, which must be the
// current folder or one above it.
func build(dir string) (*program, error) {
	valgrind, err := findValgrind()
	if err != nil {
		return nil, err
	}
	p := &program{path: filepath.Join(dir, "program"), valgrind: valgrind}
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "valgrind", "-o", p.path, programPath)
	cmd.Env = append(os.Environ(), "GOEXPERIMENT="+experiments)
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, failed("building what runs under valgrind, from the module's source", output, err)
	}
	if p.sources, err = sources(); err != nil {
		return nil, err
	}
	if p.divisions, err = divisions(p.path); err != nil {
		return nil, err
	}
	return p, p.list()
}

// list asks the program under valgrind for its subjects and instructions.
func (p *program) list() error {
	cmd := exec.Command(p.valgrind, "-q", "--tool=none", p.path, "--list")
	output, err := cmd.Output()
	if err != nil {
		return failed("listing what runs under valgrind", output, err)
	}
	if err := json.Unmarshal(output, &p.listing); err != nil || len(p.Subjects) == 0 {
		return fmt.Errorf("sealab: %s: want a list of subjects, got %.200q", p.path, output)
	}
	return nil
}

// stamp says how the program was built and what it may use.
func (p *program) stamp() map[string]string {
	version, _ := exec.Command(p.valgrind, "--version").Output()
	return map[string]string{
		"valgrind": string(bytes.TrimSpace(version)), "toolchain": runtime.Version(), "goexperiment": experiments,
		"avx2": fmt.Sprint(p.AVX2), "avx512": fmt.Sprint(p.AVX512), "sha-ni": "hidden by valgrind",
	}
}

// sources returns the folder of every package that the program is made of.
func sources() (map[string]string, error) {
	output, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir", programPath).Output()
	if err != nil {
		return nil, failed("listing the program's packages", nil, err)
	}
	folders := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		var p struct{ ImportPath, Dir string }
		if err := d.Decode(&p); err == io.EOF {
			return folders, nil
		} else if err != nil {
			return nil, fmt.Errorf("sealab: go list: %w", err)
		}
		folders[p.ImportPath] = p.Dir
	}
}

// divisionLine is a line of the disassembler with a division by what is not a
// constant: file, address, bytes, instruction.
var divisionLine = regexp.MustCompile(`(?m)^\s+\S+\s+(0x[0-9a-f]+)\s+[0-9a-f]+\s+I?DIV[BWLQ]\s`)

// divisions returns the addresses of the division instructions in a program.
func divisions(path string) (map[string]bool, error) {
	output, err := exec.Command("go", "tool", "objdump", path).Output()
	if err != nil {
		return nil, failed("disassembling the program", nil, err)
	}
	found := map[string]bool{}
	for _, match := range divisionLine.FindAllSubmatch(output, -1) {
		found[string(match[1])] = true
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("sealab: %s: want division instructions in the disassembly, there is none", path)
	}
	return found, nil
}

// moduleVersion is what a path of a module's source has more than its import path.
var moduleVersion = regexp.MustCompile(`@[^/]+`)

// frame returns a frame with the text of its line, where the source is there.
// dir and file are what debug information that was built with -trimpath says:
// the import path, with a version where it is another module's.
func (p *program) frame(function, dir, file string, line int) taintfile.Frame {
	f := taintfile.Frame{Function: function, Line: line}
	if file == "" {
		return f
	}
	importPath := moduleVersion.ReplaceAllString(strings.TrimPrefix(dir, "./"), "")
	f.File = importPath + "/" + file
	folder, ok := p.sources[importPath]
	if !ok {
		return f
	}
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return f
	}
	if lines := strings.Split(string(text), "\n"); 0 < line && line <= len(lines) {
		f.Text = strings.TrimSpace(lines[line-1])
	}
	return f
}
