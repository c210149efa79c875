package vectors_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
	"sealab/vectors"
)

var update = flag.Bool("update", false, "write LAYOUTS.md")

const layoutsHead = `# Layouts

The layouts of the tokens in the vectors, byte for byte: the package comments of the designs and of the packages
that they use. Generated from the source by ` + "`go test ./vectors -run TestLayouts -args -update`" + `; do not edit. The name of a file of
vectors and its member ` + "`prefix`" + ` give the layout; ` + "`NAME-claims`" + ` is the layout ` + "`claims`" + ` over NAME.
`

// TestLayouts compares LAYOUTS.md with the package comments and the comment of Accumulate. The page is for
// readers who have the vectors without the source.
func TestLayouts(t *testing.T) {
	comments := packageComments(t, "../codecs/*/*.go", "../codecs/*/*/*.go")
	comments["accumulate"] = functionComment(t, "generate/accumulate.go", "Accumulate")
	var page strings.Builder
	page.WriteString(layoutsHead)
	for _, name := range withLayout(comments) {
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s```\n", name, plain(comments[name]))
	}
	for _, prefix := range prefixes(t) {
		require.Contains(t, page.String(), prefix, "no layout has the prefix of a file of vectors")
	}
	if *update {
		require.NoError(t, os.WriteFile("LAYOUTS.md", []byte(page.String()), 0o644))
	}
	committed, err := os.ReadFile("LAYOUTS.md")
	require.NoError(t, err)
	testenv.EqualLines(t, page.String(), string(committed), "run go test ./vectors -run TestLayouts -args -update")
}

// prefixes returns the token prefixes of the committed files.
func prefixes(t *testing.T) []string {
	t.Helper()
	paths, err := vectors.Paths("files")
	require.NoError(t, err)
	var quoted []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var f struct{ Prefix string }
		require.NoError(t, json.Unmarshal(data, &f), path)
		quoted = append(quoted, strconv.Quote(f.Prefix))
	}
	return quoted
}

// packageComments returns package comments by package name.
func packageComments(t *testing.T, globs ...string) map[string]string {
	t.Helper()
	comments := map[string]string{}
	for _, glob := range globs {
		paths, err := filepath.Glob(filepath.FromSlash(glob))
		require.NoError(t, err)
		require.NotEmpty(t, paths, glob)
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			if f.Doc != nil && !strings.HasSuffix(path, "_test.go") {
				comments[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	return comments
}

// functionComment returns the comment of a function.
func functionComment(t *testing.T, path, name string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	require.NoError(t, err)
	for _, d := range f.Decls {
		if fn, is := d.(*ast.FuncDecl); is && fn.Name.Name == name {
			return fn.Doc.Text()
		}
	}
	require.Fail(t, "no such function", "%s in %s", name, path)
	return ""
}

var (
	layoutForm = regexp.MustCompile(`(?m)^\t.*\b(token|claims) += `)
	restsOn    = regexp.MustCompile(`\bpackage\s+(\w+)|(\w+)\s+derivation`)
)

// withLayout returns the sorted names of packages whose comments contain a token layout, and of the
// packages that those comments name.
func withLayout(comments map[string]string) []string {
	var names []string
	var add func(name string)
	add = func(name string) {
		if comments[name] == "" || slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		for _, m := range restsOn.FindAllStringSubmatch(comments[name], -1) {
			add(m[1] + m[2])
		}
	}
	for name, text := range comments {
		if layoutForm.MatchString(text) {
			add(name)
		}
	}
	slices.Sort(names)
	return names
}

// plain returns a comment as go doc prints it.
func plain(text string) string {
	var p comment.Parser
	printer := comment.Printer{TextWidth: 80}
	return string(printer.Text(p.Parse(text)))
}
