package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// A block is a fenced block of the README with the comment before it.
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

// TestReadmeCommands runs the console blocks of the README. The commands must
// print the lines that the blocks show.
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
	runScripts(t, dir, func(*testscript.Env) error { return nil })
}

// columns matches the space between the columns of a table. Its width depends
// on other rows, which a block may omit.
var columns = regexp.MustCompile(`  +`)

// asScript converts a console block to a script. A shell runs each line after
// "$ ", and each line after it must begin a line of its output. A line after "$
// ! " must fail.
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

// TestGuides runs the console blocks of each guide in a folder with the
// vectors. Go blocks must occur in examples that tests run.
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
	runScripts(t, dir, func(e *testscript.Env) error {
		return os.Symlink(vectors, filepath.Join(e.WorkDir, "vectors"))
	})
}

// requireExample checks that a Go block occurs in the example that it names.
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

// TestReadmeExamples checks that the Go blocks of the README occur in examples
// that tests run.
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

// measurements is the document that quotes a run of the benchmark.
const measurements = "bench/README.md"

var quoted = flag.String("quote", "", "folder of a run that "+measurements+" then quotes")

// reportOf returns the report of a run, whose folder is relative to the module.
func reportOf(t *testing.T, folder string) string {
	t.Helper()
	var out, errs strings.Builder
	status := run([]string{"report", filepath.Join("..", "..", filepath.FromSlash(folder))}, strings.NewReader(""), &out, &errs)
	require.Zero(t, status, errs.String())
	return out.String()
}

// TestFigures checks that every figure in the documents occurs in the report of
// the committed run that they name. With -args -quote, the document about
// measurements first quotes another run: make quote.
func TestFigures(t *testing.T) {
	if *quoted != "" {
		requote(t, *quoted)
	}
	var seen int
	for _, b := range append(readme(t), blocksOf(t, measurements)...) {
		folder, ok := strings.CutPrefix(b.remark, "report: ")
		if !ok {
			continue
		}
		report := reportOf(t, folder)
		for line := range strings.Lines(b.text) {
			require.True(t, strings.Contains(report, strings.TrimRight(line, "\n")), "the report of %s has no line %q", folder, line)
		}
		seen++
	}
	require.NotZero(t, seen)
}

// requote replaces the quotation by the same paragraphs of another report.
func requote(t *testing.T, folder string) {
	t.Helper()
	path, report := filepath.Join("..", "..", filepath.FromSlash(measurements)), reportOf(t, folder)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, b := range blocksOf(t, measurements) {
		if older, ok := strings.CutPrefix(b.remark, "report: "); ok {
			text = bytes.ReplaceAll(text, []byte(b.text), []byte(quotation(t, b.text, report)))
			text = bytes.ReplaceAll(text, []byte(older), []byte(folder))
		}
	}
	require.NoError(t, os.WriteFile(path, text, 0o644))
}

// quotation returns the paragraphs of a report whose first lines equal those of
// an older quotation, except for numbers. A paragraph of one line stays one
// line.
func quotation(t *testing.T, older, report string) string {
	t.Helper()
	var all []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(older), "\n\n") {
		heading, more, _ := strings.Cut(paragraph, "\n")
		at := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(heading) + `$`).FindStringIndex(report)
		if at == nil {
			at = regexp.MustCompile(`(?m)^` + figure.ReplaceAllString(regexp.QuoteMeta(heading), figure.String()) + `$`).FindStringIndex(report)
		}
		require.NotNil(t, at, "the report has no line like %q", heading)
		end := at[1]
		if more != "" {
			section, _, _ := strings.Cut(report[at[0]:], "\n\n")
			end = at[0] + len(strings.TrimRight(section, "\n"))
		}
		all = append(all, report[at[0]:end])
	}
	return strings.Join(all, "\n\n") + "\n"
}

var figure = regexp.MustCompile(`[0-9]+(?:\\?\.[0-9]+)?`)

// TestQuotation quotes paragraphs of another report and checks that no others
// are quoted.
func TestQuotation(t *testing.T) {
	const older = "noise 2.7 %: of 8 cells\n\nseal, 1 KiB\n  a  1\n  b  2\n\n3 of 4 reached\n"
	const report = "head\nnoise 11 %: of 9 cells\n\nseal, 8 KiB\n  a  7\n\nseal, 1 KiB\n  a  3\n\n10 of 12 reached\n  missed: a\n"
	require.Equal(t, "noise 11 %: of 9 cells\n\nseal, 1 KiB\n  a  3\n\n10 of 12 reached\n", quotation(t, older, report))
}
