package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// A block is a fenced part of the README with the remark before it.
type block struct{ remark, language, text string }

var blockForm = regexp.MustCompile("(?ms)(?:^<!-- ([^\n]*) -->\n)?^```([a-z]*)\n(.*?)^```$")

// readme returns the blocks of the README.
func readme(t *testing.T) []block {
	t.Helper()
	return blocksOf(t, "README.md")
}

// blocksOf returns the fenced blocks of a document.
func blocksOf(t *testing.T, path string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	require.NoError(t, err)
	var blocks []block
	for _, m := range blockForm.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{m[1], m[2], m[3]})
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// TestReadmeCommands runs the console blocks of the README, and finds what they
// show in what the commands print.
func TestReadmeCommands(t *testing.T) {
	var script strings.Builder
	for _, b := range readme(t) {
		if b.language == "console" {
			script.WriteString(asScript(b.text))
		}
	}
	require.Contains(t, script.String(), "sealab")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readme.txt"), []byte(script.String()), 0o644))
	testscript.Run(t, testscript.Params{Dir: dir})
}

// columns is the space between the columns of a table. Its width depends on other
// rows, which a block may leave out.
var columns = regexp.MustCompile(`  +`)

// asScript turns a console block into a script: each line after "$ " is run by a
// shell, and each line after it has to begin a line of its output. A line after
// "$ ! " has to fail.
func asScript(console string) string {
	var script strings.Builder
	for line := range strings.Lines(console) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			command, refused := strings.CutPrefix(command, "! ")
			fmt.Fprintf(&script, "%sexec sh -c '%s'\n", map[bool]string{true: "! "}[refused], strings.ReplaceAll(command, "'", "''"))
			continue
		}
		form := columns.ReplaceAllString(regexp.QuoteMeta(line), "  +")
		fmt.Fprintf(&script, "stdout '^%s'\n", strings.ReplaceAll(form, "'", "''"))
	}
	return script.String()
}

// TestGuides runs the console blocks of each guide in a folder with the vectors,
// and finds its Go in the examples that tests run.
func TestGuides(t *testing.T) {
	guides, err := filepath.Glob(filepath.Join("..", "..", "analysis", "site", "guides", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, guides)
	vectors, err := filepath.Abs(filepath.Join("..", "..", "vectors"))
	require.NoError(t, err)
	dir := t.TempDir()
	for _, guide := range guides {
		var script strings.Builder
		for _, b := range blocksOf(t, "analysis/site/guides/"+filepath.Base(guide)) {
			switch b.language {
			case "console":
				script.WriteString(asScript(b.text))
			case "go":
				requireExample(t, b)
			}
		}
		require.Contains(t, script.String(), "sealab", guide)
		name := strings.TrimSuffix(filepath.Base(guide), ".md") + ".txt"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script.String()), 0o644))
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		return os.Symlink(vectors, filepath.Join(e.WorkDir, "vectors"))
	}})
}

// requireExample finds a block of Go in the example that it names.
func requireExample(t *testing.T, b block) {
	t.Helper()
	folder, ok := strings.CutPrefix(b.remark, "example: ")
	require.True(t, ok, "a block of Go without its example: %s", b.text)
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(folder), "example_test.go"))
	require.NoError(t, err)
	for line := range strings.Lines(b.text) {
		require.Contains(t, string(text), strings.TrimSpace(line), folder)
	}
}

// TestReadmeExamples finds the Go of the README in the examples that the tests
// of those packages run.
func TestReadmeExamples(t *testing.T) {
	var seen int
	for _, b := range readme(t) {
		if b.language != "go" {
			continue
		}
		requireExample(t, b)
		seen++
	}
	require.NotZero(t, seen)
}

// TestFigures finds every figure of the documents in the report of the committed
// run that they name.
func TestFigures(t *testing.T) {
	var seen int
	for _, b := range append(readme(t), blocksOf(t, "bench/README.md")...) {
		folder, ok := strings.CutPrefix(b.remark, "report: ")
		if !ok {
			continue
		}
		var out, errs strings.Builder
		status := run([]string{"report", filepath.Join("..", "..", filepath.FromSlash(folder))}, strings.NewReader(""), &out, &errs)
		require.Zero(t, status, errs.String())
		for line := range strings.Lines(b.text) {
			require.Contains(t, out.String(), strings.TrimRight(line, "\n"), folder)
		}
		seen++
	}
	require.NotZero(t, seen)
}
