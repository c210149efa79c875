package taint

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sealab/internal/taintfile"
)

// executed runs one subject under callgrind and returns the divisions that its
// operations executed.
func (p *program) executed(dir, subject string) ([]taintfile.Report, error) {
	file := filepath.Join(dir, "callgrind.out")
	flags := []string{"--tool=callgrind", "--collect-atstart=no", "--dump-instr=yes",
		"--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=" + file}
	for _, function := range slices.Sorted(maps.Keys(operations)) {
		flags = append(flags, "--toggle-collect="+function)
	}
	if err := p.run(subject, taintfile.None, flags...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	return p.divisionsIn(string(text)), nil
}

// divisionsIn returns the divisions among the instructions of a profile in
// callgrind's format: lines "fl=", "fi=" and "fe=" name a file, "fn=" a
// function, and "0xaddress line cost" an instruction. The line after "calls=" is
// the cost of a call.
func (p *program) divisionsIn(profile string) []taintfile.Report {
	var reports []taintfile.Report
	var file, function string
	call := false
	for line := range strings.Lines(profile) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		fields := strings.Fields(line)
		switch {
		case call:
			call = false
		case key == "fl" || key == "fi" || key == "fe":
			file = value
		case key == "fn":
			function = value
		case key == "calls":
			call = true
		case len(fields) >= 2 && p.divisions[fields[0]]:
			number, _ := strconv.Atoi(fields[1])
			frame := p.frame(function, path.Dir(file), path.Base(file), number)
			if misread(frame) {
				continue
			}
			reports = append(reports, taintfile.Report{Kind: taintfile.Division, Op: "any", Stack: []taintfile.Frame{frame}})
		}
	}
	return slices.CompactFunc(reports, func(a, b taintfile.Report) bool { return a.Stack[0] == b.Stack[0] })
}

// misread reports whether the disassembler took another instruction of an
// assembly file for a division, as it does with MULX: there the line is the
// instruction.
func misread(f taintfile.Frame) bool {
	return strings.HasSuffix(f.File, ".s") && f.Text != "" && !strings.Contains(f.Text, "DIV")
}
