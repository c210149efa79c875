package site_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/choice"
	"sealab/analysis/site"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// committed is the Source of the committed results and vectors.
var committed = site.Source{
	Results: filepath.Join("..", "..", "results"), Vectors: filepath.Join("..", "..", "vectors", "files"),
	Commands: []site.Command{{Name: "sealab", Markdown: "## sealab\n\nText\n\n### SEE ALSO\n\n* [x](x.md)\n"}, {Name: "sealab list", Markdown: "## sealab list\n\nList <b>designs</b>\n\n```\nsealab list [DESIGN]\n```\n\n### Options\n\n```\n--json\n```\n\n### Options inherited from parent commands\n\n```\n--quiet\n```\n"}},
}

// ready is a site that the command wrote, to be tested instead.
var ready = flag.String("site", "", "folder of a site to test, made with --vectors vectors/files")

// folder contains the pages of the committed results. They are written once.
var folder string

var build = sync.OnceValue(func() error { return site.Write(committed, folder) })

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sealab-site-")
	if err != nil {
		panic(err)
	}
	folder = filepath.Join(dir, "site")
	flag.Parse()
	if *ready != "" {
		folder, build = *ready, func() error { return nil }
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// pages returns the paths of all pages in folder.
func pages(t *testing.T) []string {
	t.Helper()
	testenv.SkipSample(t)
	require.NoError(t, build())
	all, err := filepath.Glob(filepath.Join(folder, "*.html"))
	require.NoError(t, err)
	require.Greater(t, len(all), len(catalog.All()))
	return all
}

// element is a start tag of a page, or text.
type element struct {
	name, text string
	attributes map[string]string
}

// parse parses a whole page.
func parse(t *testing.T, path string) []element {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	page := string(text)
	if i, j := strings.Index(page, "<script>"), strings.Index(page, "</script>"); i >= 0 && j > i {
		page = page[:i+len("<script>")] + page[j:] // the script is not XML
	}
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var all []element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
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

// TestPages checks every page: its links and fragments resolve, and no element makes a request.
func TestPages(t *testing.T) {
	ids := map[string]map[string]bool{}
	all := map[string][]element{}
	for _, path := range pages(t) {
		name := filepath.Base(path)
		all[name], ids[name] = parse(t, path), map[string]bool{"": true}
		for _, e := range all[name] {
			if id := e.attributes["id"]; id != "" {
				require.False(t, ids[name][id], "%s has the id %s twice", name, id)
				ids[name][id] = true
			}
		}
	}
	for name, elements := range all {
		headings := 0
		for _, e := range elements {
			if fault := requests(e); fault != "" {
				t.Fatalf("%s: %s", name, fault)
			}
			if e.name == "h1" {
				headings++
			}
			if e.name != "a" {
				continue
			}
			file, place, _ := strings.Cut(e.attributes["href"], "#")
			if file == "" {
				file = name
			}
			if ids[file] == nil {
				require.FileExists(t, filepath.Join(folder, file), "%s links to %s", name, file)
				continue
			}
			require.True(t, ids[file][place], "%s links to %s#%s", name, file, place)
		}
		require.Equal(t, 1, headings, name)
	}
}

// requests returns the part of an element that may make a request, or "".
func requests(e element) string {
	if slices.Contains([]string{"img", "iframe", "object", "embed", "base", "form"}, e.name) {
		return e.name
	}
	for _, attribute := range []string{"src", "style"} {
		if value, ok := e.attributes[attribute]; ok {
			return attribute + "=" + value
		}
	}
	for _, text := range []string{"url(", "@import"} {
		if strings.Contains(e.text, text) {
			return text
		}
	}
	return ""
}

// TestHomeHasEveryDesign checks that the home page links every design, and has points and marks.
func TestHomeHasEveryDesign(t *testing.T) {
	pages(t)
	text, err := os.ReadFile(filepath.Join(folder, "index.html"))
	require.NoError(t, err)
	for _, d := range catalog.All() {
		require.Contains(t, string(text), `<a href="design-`+d.Name+`.html">`, d.Name)
	}
	for _, want := range []string{`<circle class="dot`, "claimed, not tested", `class="cell good"`} {
		require.Contains(t, string(text), want)
	}
	require.NotContains(t, string(text), "claimed, refuted:", "a claimed guarantee was refuted in the reference run")
}

// TestChoosePage checks that the page contains every codec to choose from and every scenario.
func TestChoosePage(t *testing.T) {
	pages(t)
	text, err := os.ReadFile(filepath.Join(folder, "choose.html"))
	require.NoError(t, err)
	codecsThere := 0
	for _, d := range catalog.All() {
		if lab.HooksOf(d).Facts != nil && !d.IsScheme() {
			codecsThere++
			require.Contains(t, string(text), `id="c-`+d.Name+`"`)
		}
	}
	require.GreaterOrEqual(t, codecsThere, 16)
	for _, s := range choice.Scenarios {
		require.Contains(t, string(text), html.EscapeString(s.Name))
	}
	require.NotContains(t, string(text), "its row states no limits", "a design that is no choice is no reason")
	require.False(t, strings.Contains(string(text), `data-sort="1e99">`+site.NotTested), "a design was not measured")
}

// TestTwiceTheSame checks that writing the pages again gives the same files.
func TestTwiceTheSame(t *testing.T) {
	testenv.SkipSample(t)
	again := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site.Write(committed, again))
	for _, path := range pages(t) {
		first, err := os.ReadFile(path)
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(again, filepath.Base(path)))
		require.NoError(t, err)
		require.True(t, string(first) == string(second), "%s differs", path)
	}
}

// TestOneRun writes the page of one run of each kind.
func TestOneRun(t *testing.T) {
	for kind, want := range map[string]string{"bench": "<h2>Thresholds</h2>", "attack": "<h2>Outcomes</h2>", "review": "<h2>Checks</h2>", "fuzz": "Coverage over time"} {
		runs, err := filepath.Glob(filepath.Join(committed.Results, kind, "2*"))
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), kind+".html")
		require.NoError(t, site.WriteRun(runs[len(runs)-1], file), kind)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), want, kind)
		for _, e := range parse(t, file) {
			if href := e.attributes["href"]; e.name == "a" {
				require.True(t, strings.HasPrefix(href, "#"), "%s links to %s", kind, href)
			}
		}
	}
	require.ErrorContains(t, site.WriteRun(t.TempDir(), "x.html"), "want the folder of a run")
}

// hostileRun writes results with a finding whose texts contain markup.
func hostileRun(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	run := filepath.Join(root, "attack", "20260101T000000Z-x")
	require.NoError(t, os.MkdirAll(run, 0o755))
	name := catalog.All()[0].Name
	require.NoError(t, os.WriteFile(filepath.Join(run, "findings.json"), []byte(`[{"id":"F-0123456789","severity":"critical","category":"integrity",
		"location":{"design":"`+name+`","kind":"codec","attack":"TAG-01","word":"stated"},"issue":"</p><script>alert(1)</script>",
		"evidence":"<img src=x>","impact":"i","fix":"f","verification":"sealab replay findings.json F-0123456789"}]`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(run, "table.md"), []byte("| design | integrity |\n|---|---|\n| "+name+" | refuted: TAG-01 |\n"), 0o644))
	return root
}

func TestHostileResults(t *testing.T) {
	root := hostileRun(t)
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site.Write(site.Source{Results: root}, dir))
	scripts := 0
	for _, e := range parse(t, filepath.Join(dir, "attacks.html")) {
		require.NotEqual(t, "img", e.name)
		if e.name == "script" {
			scripts++
		}
	}
	require.Equal(t, 1, scripts)
	home, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(home), `class="cell bad"`)
	require.Error(t, site.Write(site.Source{Results: root}, dir), "the folder is there already")
	require.ErrorContains(t, site.Write(site.Source{Results: t.TempDir()}, filepath.Join(t.TempDir(), "site")), "want a run in bench or attack")
	require.ErrorContains(t, site.Write(site.Source{Results: root, Vectors: t.TempDir()}, filepath.Join(t.TempDir(), "site")), "want files of vectors")
}

// TestPageOfVectorsHasTheirChanges checks that the page lists the changes of the vectors by kind, and no
// other changes.
func TestPageOfVectorsHasTheirChanges(t *testing.T) {
	pages(t)
	text, err := os.ReadFile(filepath.Join(folder, "vectors.html"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "e+03 KiB", "sizes of more than 1,000 KiB are in MiB")
	_, changes, found := strings.Cut(string(text), "<h2>Changelog</h2>")
	require.True(t, found)
	require.Contains(t, changes, "<strong>Added</strong>")
	require.Contains(t, changes, "<code>unjudged</code>")
	require.NotContains(t, changes, "<code>sealab review</code>")
}
