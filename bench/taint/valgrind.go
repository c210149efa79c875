package taint

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sealab/internal/runfile"
)

// operations maps the functions of the program that mark an operation to its name. No name may be a prefix
// of another: callgrind might confuse the two.
var operations = map[string]string{
	"main.open": "open", "main.seal": "seal", "main.unseal": "unseal", "main.refuse": "refuse",
	"main.work": "unseal",
}

// settings configure the runtime so that its noise is the same in every run.
var settings = []string{"GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1"}

// errSubject means that the subject failed, not valgrind.
var errSubject = errors.New("the subject does not run")

// memcheck runs one subject under memcheck and returns its reports.
func (p *program) memcheck(ctx context.Context, dir, subject string, secret runfile.Secret) ([]runfile.Report, error) {
	path := filepath.Join(dir, "memcheck.xml")
	err := p.run(ctx, subject, secret, "--tool=memcheck", "--error-limit=no", "--leak-check=no",
		"--num-callers=60", "--xml=yes", "--xml-file="+path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return p.parse(text)
}

// run runs one subject under valgrind.
func (p *program) run(ctx context.Context, subject string, secret runfile.Secret, flags ...string) error {
	cmd := tied(ctx, p.valgrind, append(append([]string{"-q", "--vgdb=no"}, flags...), p.path, subject, string(secret))...)
	cmd.Env = append(os.Environ(), settings...)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errSubject, failed(subject, output, err))
	}
	return nil
}

// memcheckOutput is the part of memcheck's XML (protocol version 4) that is used.
type memcheckOutput struct {
	Errors []struct {
		Kind   runfile.Dependence `xml:"kind"`
		Stacks []struct {
			Frames []frame `xml:"frame"`
		} `xml:"stack"`
	} `xml:"error"`
}

// A frame is a line of a stack according to the debug information. The program is built with -trimpath, so
// Dir is the import path, with a version for other modules.
type frame struct {
	Function string `xml:"fn"`
	Dir      string `xml:"dir"`
	File     string `xml:"file"`
	Line     int    `xml:"line"`
}

// parse returns the reports of undefined values within an operation.
func (p *program) parse(text []byte) ([]runfile.Report, error) {
	var output memcheckOutput
	if err := xml.Unmarshal(text, &output); err != nil {
		return nil, fmt.Errorf("memcheck's report: %w", err)
	}
	var reports []runfile.Report
	for _, e := range output.Errors {
		if e.Kind != runfile.Branch && e.Kind != runfile.Address || len(e.Stacks) == 0 {
			continue
		}
		frames := e.Stacks[0].Frames
		outer := slices.IndexFunc(frames, func(f frame) bool { return operations[f.Function] != "" })
		if outer < 0 {
			continue
		}
		r := runfile.Report{Kind: e.Kind, Op: operations[frames[outer].Function]}
		for _, f := range frames[:outer] {
			r.Stack = append(r.Stack, p.source.frame(f))
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// executed runs one subject under callgrind and returns the divisions that its operations executed.
func (p *program) executed(ctx context.Context, dir, subject string) ([]runfile.Report, error) {
	file := filepath.Join(dir, "callgrind.out")
	flags := []string{"--tool=callgrind", "--collect-atstart=no", "--dump-instr=yes",
		"--compress-strings=no", "--compress-pos=no", "--callgrind-out-file=" + file}
	for _, function := range slices.Sorted(maps.Keys(operations)) {
		flags = append(flags, "--toggle-collect="+function)
	}
	if err := p.run(ctx, subject, runfile.None, flags...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return p.divisionsIn(string(text)), nil
}

// divisionsIn returns the divisions in a profile in callgrind's format. Lines "fl=", "fi=" and "fe=" name
// a file, "fn=" a function, and "0xaddress line cost" an instruction. The line after "calls=" is the cost
// of a call.
func (p *program) divisionsIn(profile string) []runfile.Report {
	var reports []runfile.Report
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
			at := p.source.frame(frame{function, path.Dir(file), path.Base(file), number})
			if misread(at) {
				continue
			}
			reports = append(reports, runfile.Report{Kind: runfile.Division, Op: "any", Stack: []runfile.Frame{at}})
		}
	}
	return slices.CompactFunc(reports, func(a, b runfile.Report) bool {
		return a.Stack[0].Line == b.Stack[0].Line && a.Stack[0].File == b.Stack[0].File
	})
}

// misread reports whether the disassembler mistook another assembly instruction for a division, such as
// MULX. In an assembly file, the source line shows the instruction.
func misread(f runfile.Frame) bool {
	return strings.HasSuffix(f.File, ".s") && f.Text != "" && !strings.Contains(f.Text, "DIV")
}
