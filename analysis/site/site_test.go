package site_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/site"
	"sealab/codecs/catalog"
)

// results is the folder of committed results.
var results = filepath.Join("..", "..", "results")

// element is a start tag of a page, or its text.
type element struct {
	name, text string
	attributes map[string]string
}

// parse reads a page to its end.
func parse(t *testing.T, path string) []element {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	d := xml.NewDecoder(strings.NewReader(string(text)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var all []element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, path)
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			all = append(all, element{text: string(token)})
		}
	}
}

// TestPages writes the pages of the committed results: every link resolves, and
// no element makes a request.
func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site.Write(results, dir))
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)
	require.Len(t, pages, len(catalog.All())+3)
	for _, page := range pages {
		headings := 0
		for _, e := range parse(t, page) {
			require.NotContains(t, []string{"script", "link", "img", "iframe", "object", "embed", "base", "form"}, e.name, page)
			require.NotContains(t, e.attributes, "src", page)
			require.NotContains(t, e.text, "url(", page)
			require.NotContains(t, e.text, "@import", page)
			if e.name == "h1" {
				headings++
			}
			if e.name == "a" {
				href := e.attributes["href"]
				require.FileExists(t, filepath.Join(dir, href), "%s links to %s", page, href)
			}
		}
		require.Equal(t, 1, headings, page)
	}
}

// TestHomeHasEveryDesign finds a row and a point for the measured designs.
func TestHomeHasEveryDesign(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site.Write(results, dir))
	text, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	for _, d := range catalog.All() {
		require.Contains(t, string(text), `<a href="design-`+d.Name+`.html">`, d.Name)
	}
	require.Contains(t, string(text), "<circle ")
	require.Contains(t, string(text), ">not tested<", "designs that the run does not have")
	require.Contains(t, string(text), `class="good"`)
	require.NotContains(t, string(text), `class="bad"`, "a claimed guarantee was refuted in the reference run")
}

// TestHostileResults gives the pages a finding whose texts are markup.
func TestHostileResults(t *testing.T) {
	root := t.TempDir()
	run := filepath.Join(root, "attack", "20260101T000000Z-x")
	require.NoError(t, os.MkdirAll(run, 0o755))
	name := catalog.All()[0].Name
	require.NoError(t, os.WriteFile(filepath.Join(run, "findings.json"), []byte(`[{"id":"F-0123456789","severity":"critical","category":"integrity",
		"location":{"design":"`+name+`","kind":"codec","attack":"TAG-01","word":"stated"},"issue":"</p><script>alert(1)</script>",
		"evidence":"<img src=x>","impact":"i","fix":"f","verification":"sealab replay findings.json F-0123456789"}]`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(run, "table.md"), []byte("| property | "+name+" |\n|---|---|\n| integrity | refuted: TAG-01 |\n"), 0o644))
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site.Write(root, dir))
	for _, e := range parse(t, filepath.Join(dir, "findings.html")) {
		require.NotContains(t, []string{"script", "img"}, e.name)
	}
	home, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(home), `class="bad"`)
	require.Error(t, site.Write(root, dir), "the folder is there already")
	require.ErrorContains(t, site.Write(t.TempDir(), filepath.Join(t.TempDir(), "site")), "want a run in bench or attack")
}
