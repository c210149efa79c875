package taint

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

// TestUnderValgrind builds the program and runs a leaking control, a clean one and one without a secret.
// memcheck must report only the leaking line.
func TestUnderValgrind(t *testing.T) {
	if testenv.Sample() {
		testenv.Skip(t, "-short or -race: it takes half a minute; make matrices runs it whole")
	}
	dir := t.TempDir()
	p, err := build(t.Context(), dir)
	if errors.Is(err, ErrMissing) {
		testenv.Skip(t, "%v", err)
	}
	require.NoError(t, err)
	require.Greater(t, len(p.Subjects), 10)
	for subject, want := range map[string]string{
		"control-early-exit":            "if secret[i] != guess[i] {",
		"control-constant-time-compare": "",
	} {
		none, err := p.memcheck(t.Context(), dir, subject, runfile.None)
		require.NoError(t, err)
		require.Empty(t, none, subject)
		key, err := p.memcheck(t.Context(), dir, subject, runfile.Key)
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, key, subject)
			continue
		}
		require.Len(t, key, 1)
		require.Equal(t, runfile.Branch, key[0].Kind)
		require.Equal(t, programPath+".earlyExit", key[0].Stack[0].Function)
		require.Equal(t, want, key[0].Stack[0].Text)
	}
	divisions, err := p.executed(t.Context(), dir, "control-division-of-secret")
	require.NoError(t, err)
	require.Len(t, divisions, 1)
	require.Equal(t, programPath+".divisionOfSecret", divisions[0].Stack[0].Function)
	_, err = p.memcheck(t.Context(), dir, "no-such-design", runfile.None)
	require.ErrorIs(t, err, errSubject)
}

// TestMissingValgrind checks that the error names the package to install.
func TestMissingValgrind(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Run(t.Context(), t.TempDir(), nil, nil, func(int, int) {})
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "apt-get install valgrind")
}

// TestProfileIsRead parses a handwritten profile. One of its two division instructions is MULX, which the
// disassembler mistakes for a division.
func TestProfileIsRead(t *testing.T) {
	p := &program{divisions: map[string]bool{"0x10": true, "0x20": true, "0x30": true}}
	reports := p.divisionsIn("fl=./a/b/c.go\nfn=a/b.f\n0x10 7 1\n0x11 8 1\ncalls=1 0x30 9\n0x20 9 100\nfi=./a/d.go\n0x30 12 1\n")
	require.Len(t, reports, 2)
	require.Equal(t, runfile.Frame{Function: "a/b.f", File: "a/b/c.go", Line: 7}, reports[0].Stack[0])
	require.Equal(t, runfile.Frame{Function: "a/b.f", File: "a/d.go", Line: 12}, reports[1].Stack[0])
	require.True(t, misread(runfile.Frame{File: "x.s", Text: "MULXQ R10, R13, R14"}))
	require.False(t, misread(runfile.Frame{File: "x.s", Text: "DIVQ R8"}))
}

// TestReportIsRead parses a recorded memcheck report. One of its errors is a branch inside an operation.
func TestReportIsRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "memcheck.xml"))
	require.NoError(t, err)
	reports, err := new(program).parse(text)
	require.NoError(t, err)
	require.Len(t, reports, 1)
	require.Equal(t, runfile.Branch, reports[0].Kind)
	require.Equal(t, "unseal", reports[0].Op)
	require.Equal(t, "main.earlyExit", reports[0].Stack[0].Function)
	_, err = new(program).parse([]byte("<valgrindoutput>"))
	require.Error(t, err)
}

// TestLinesAreResolved resolves lines of the controls to the functions whose result they branch on.
func TestLinesAreResolved(t *testing.T) {
	s, err := readSource(t.Context(), []string{"-tags", "valgrind"}, os.Environ())
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join("program", "controls.go"))
	require.NoError(t, err)
	resolve := func(line string) runfile.Frame {
		before, _, found := strings.Cut(string(text), line)
		require.True(t, found, line)
		return s.frame(frame{"main.outer", programPath, "controls.go", 1 + strings.Count(before, "\n")})
	}
	passed := resolve("if equal(secret, guess) {")
	require.Equal(t, programPath+".publicVerdict", passed.Function, "the function that the line is in, whatever inlined it")
	require.Equal(t, []string{programPath + ".equal", "crypto/subtle.ConstantTimeCompare"}, passed.Tests[:2])
	require.Equal(t, []string{programPath + ".earlyExit"}, resolve("if earlyExit(secret) == 1 {").Tests, "it does not pass a verdict on")
	require.Equal(t, passed.Tests, resolve("if !ok {").Tests, "a variable that is assigned once")
	before, after, found := strings.Cut(string(text), "func changedVerdict")
	require.True(t, found)
	line, _, found := strings.Cut(after, "if !ok {")
	require.True(t, found)
	changed := s.frame(frame{"main.outer", programPath, "controls.go", 1 + strings.Count(before+line, "\n")})
	require.Equal(t, programPath+".changedVerdict", changed.Function)
	require.Empty(t, changed.Tests, "a variable that is assigned twice")
	require.Empty(t, resolve("if equal(secret, guess) || secret[0] == guess[0] {").Tests, "two causes")
	require.Empty(t, resolve("if secret[i] != guess[i] {").Tests)
	require.Equal(t, "elsewhere.f", s.frame(frame{"elsewhere.f", "elsewhere", "f.go", 1}).Function)
}

// TestRunStops checks that an interrupted run leaves no folder and no log. A killed subject does not count
// as failed.
func TestRunStops(t *testing.T) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		testenv.Skip(t, "%v", ErrMissing)
	}
	temporary, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Run(ctx, dir, nil, nil, func(int, int) {}), context.Canceled)
	for _, folder := range []string{temporary, dir} {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
}
