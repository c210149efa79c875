package taint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"

	"sealab/internal/runfile"
)

// programPath is the import path of the program that runs under valgrind.
const programPath = "sealab/bench/taint/program"

// experiments are the settings of the toolchain under which valgrind can read
// the program's debug information and its heap lies at a fixed place.
const experiments = "nodwarf5,norandomizedheapbase64"

// A program is a built program with its source and its division instructions.
type program struct {
	path      string
	valgrind  string
	source    *source
	divisions map[string]bool // addresses of its division instructions, as 0x...
	listing
}

// listing is the output of the program with --list.
type listing struct {
	Subjects     []runfile.Log
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
	flags, env := []string{"-trimpath", "-tags", "valgrind"}, append(os.Environ(), "GOEXPERIMENT="+experiments)
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", p.path, programPath)...)
	cmd.Env = env
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, failed("building the program that runs under valgrind, from the module's source", output, err)
	}
	if p.source, err = readSource(flags, env); err != nil {
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
		return failed("listing the subjects under valgrind", output, err)
	}
	if err := json.Unmarshal(output, &p.listing); err != nil || len(p.Subjects) == 0 {
		return fmt.Errorf("%s: want a list of subjects, got %.200q", p.path, output)
	}
	return nil
}

// stamp returns the toolchain of the program and the instructions that it may use.
func (p *program) stamp() map[string]string {
	version, _ := exec.Command(p.valgrind, "--version").Output()
	return map[string]string{
		"valgrind": string(bytes.TrimSpace(version)), "toolchain": runtime.Version(), "goexperiment": experiments,
		"avx2": fmt.Sprint(p.AVX2), "avx512": fmt.Sprint(p.AVX512), "sha-ni": "hidden by valgrind",
	}
}

// divisionLine is a line of the disassembler with a division: file, address,
// bytes, instruction. The compiler replaces a division by a constant.
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
		return nil, fmt.Errorf("%s: want division instructions in the disassembly, there is none", path)
	}
	return found, nil
}
