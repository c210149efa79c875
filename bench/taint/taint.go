// Package taint runs every design under valgrind with its secrets declared
// undefined, and writes valgrind's reports. Package analysis/taint judges them.
//
// Each subject runs in separate processes. It runs under memcheck three times: with no secret, with its
// keys, and with its payload undefined. This distinguishes noise of the Go runtime from effects of a
// secret. It also runs under callgrind, which lists the executed divisions. The time of a division
// depends on its operands on many processors, and memcheck does not report divisions.
//
// The program is built for this purpose. The build tag valgrind lets the runtime and the program send
// requests to valgrind. DWARF 5 is disabled, because valgrind 3.19 cannot read it. The heap is at a fixed
// address, and the program runs on one thread without the garbage collector. The noise is then the same in
// every run.
//
// valgrind 3.19 hides SHA-NI, AVX-512 and VAES from the program. The measured paths are therefore AVX2 for
// SHA-256, and AES-NI with PCLMULQDQ for AES-GCM.
//
// Limitations: taint does not see code that these few operations do not reach, paths that valgrind hides,
// and effects of the microarchitecture.
package taint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"

	"sealab/internal/command"
	"sealab/internal/runfile"
)

// ErrMissing means that valgrind is not installed.
var ErrMissing = errors.New("valgrind is not installed; install it with: apt-get install valgrind")

// failed returns the error of a command with the end of its output, or of its standard error if that was
// kept apart.
func failed(what string, output []byte, err error) error {
	const most = 500
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		output = exit.Stderr
	}
	if len(output) > most {
		output = output[len(output)-most:]
	}
	return fmt.Errorf("%s: %w: %s", what, err, output)
}

// tied returns a command that is killed, with its children, when ctx or this process ends.
func tied(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = command.TiedChild()
	cmd.Cancel = func() error { return command.KillGroup(cmd.Process) }
	return cmd
}

// secrets lists the values that are declared undefined, one per run.
var secrets = []runfile.Secret{runfile.None, runfile.Key, runfile.Payload}

// Run runs the controls and the designs that only names, or every design if only is empty. It writes a log
// for each subject and secret to dir. stamp goes into every log. Subjects run in parallel, one per
// processor, until ctx is done. Run calls progress after each subject, one call at a time.
func Run(ctx context.Context, dir string, only []string, stamp map[string]string, progress func(done, of int)) error {
	work, err := os.MkdirTemp("", "sealab-taint-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	p, err := build(ctx, work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	stamp = maps.Clone(stamp)
	maps.Copy(stamp, p.stamp(ctx))
	subjects, err := p.choose(only)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	var failure error
	done, places := 0, make(chan struct{}, runtime.NumCPU())
	for _, s := range subjects {
		if places <- struct{}{}; ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-places }()
			s.Stamp = stamp
			err := p.subject(ctx, work, dir, s)
			mu.Lock()
			defer mu.Unlock()
			failure = cmp.Or(failure, err)
			done++
			progress(done, len(subjects))
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the run was stopped after %d of %d subjects: %w", done, len(subjects), err)
	}
	return failure
}

// choose returns the controls and the designs that only names, or all designs.
func (p *program) choose(only []string) ([]runfile.Log, error) {
	wanted := map[string]bool{}
	for _, name := range only {
		wanted[name] = true
	}
	var subjects []runfile.Log
	for _, s := range p.Subjects {
		if s.Expect != runfile.Open || len(only) == 0 || wanted[s.Subject] {
			subjects = append(subjects, s)
		}
		delete(wanted, s.Subject)
	}
	for name := range wanted {
		return nil, fmt.Errorf("no design %q runs under valgrind", name)
	}
	return subjects, nil
}

// subject writes the logs of one subject. The log for secret keys includes the divisions.
func (p *program) subject(ctx context.Context, work, dir string, s runfile.Log) error {
	work, err := os.MkdirTemp(work, "subject-")
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		log := s
		log.Secret = secret
		if err := p.fill(ctx, work, &log); errors.Is(err, errSubject) {
			log.Failed = err.Error()
		} else if err != nil {
			return err
		}
		if err := log.Write(dir); err != nil {
			return err
		}
	}
	return nil
}

// fill runs the subject of the log and adds its reports.
func (p *program) fill(ctx context.Context, work string, log *runfile.Log) (err error) {
	if log.Reports, err = p.memcheck(ctx, work, log.Subject, log.Secret); err != nil || log.Secret != runfile.Key {
		return err
	}
	divisions, err := p.executed(ctx, work, log.Subject)
	log.Reports = append(log.Reports, divisions...)
	return err
}

// programPath is the import path of the program that runs under valgrind.
const programPath = "sealab/bench/taint/program"

// experiments are toolchain settings: valgrind must be able to read the debug information, and the heap
// must be at a fixed address.
const experiments = "nodwarf5,norandomizedheapbase64"

// A program is a built program with its source and its division instructions.
type program struct {
	path      string
	valgrind  string
	source    *source
	divisions map[string]bool // addresses of division instructions, as 0x...
	listing
}

// listing is the output of the program with --list.
type listing struct {
	Subjects     []runfile.Log
	AVX2, AVX512 bool
}

// build builds the program into dir from the module's source. The working folder must be inside the
// module.
func build(ctx context.Context, dir string) (*program, error) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, ErrMissing
	}
	p := &program{path: filepath.Join(dir, "program"), valgrind: valgrind}
	flags, env := []string{"-trimpath", "-tags", "valgrind"}, append(os.Environ(), "GOEXPERIMENT="+experiments)
	cmd := tied(ctx, "go", append(append([]string{"build"}, flags...), "-o", p.path, programPath)...)
	cmd.Env = env
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, failed("building the program that runs under valgrind, from the module's source", output, err)
	}
	if p.source, err = readSource(ctx, flags, env); err != nil {
		return nil, err
	}
	if p.divisions, err = divisions(ctx, p.path); err != nil {
		return nil, err
	}
	return p, p.list(ctx)
}

// list runs the program under valgrind to list its subjects and instructions.
func (p *program) list(ctx context.Context) error {
	output, err := tied(ctx, p.valgrind, "-q", "--vgdb=no", "--tool=none", p.path, "--list").Output()
	if err != nil {
		return failed("listing the subjects under valgrind", output, err)
	}
	if err := json.Unmarshal(output, &p.listing); err != nil || len(p.Subjects) == 0 {
		return fmt.Errorf("%s: want a list of subjects, got %.200q", p.path, output)
	}
	return nil
}

// stamp returns the versions of valgrind and the toolchain, and the instructions that the program may use.
func (p *program) stamp(ctx context.Context) map[string]string {
	version, _ := tied(ctx, p.valgrind, "--version").Output()
	return map[string]string{
		"valgrind": string(bytes.TrimSpace(version)), "toolchain": runtime.Version(), "goexperiment": experiments,
		"avx2": fmt.Sprint(p.AVX2), "avx512": fmt.Sprint(p.AVX512), "sha-ni": "hidden by valgrind",
	}
}

// divisionLine matches a line of the disassembler with a division: file, address, bytes, instruction. The
// compiler replaces divisions by constants.
var divisionLine = regexp.MustCompile(`(?m)^\s+\S+\s+(0x[0-9a-f]+)\s+[0-9a-f]+\s+I?DIV[BWLQ]\s`)

// divisions returns the addresses of the division instructions in a program.
func divisions(ctx context.Context, path string) (map[string]bool, error) {
	output, err := tied(ctx, "go", "tool", "objdump", path).Output()
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
