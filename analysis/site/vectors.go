package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"

	"sealab/internal/page"
)

// A vectorsFile holds the parts of a file of vectors that the pages show.
type vectorsFile struct {
	Design  string             `json:"design"`
	Kind    string             `json:"kind"`
	Doc     string             `json:"doc"`
	Version int                `json:"version"`
	Tests   int                `json:"number_of_tests"`
	Notes   map[string]vecNote `json:"notes"`
	List    []struct {
		Expect string   `json:"expect"`
		Flags  []string `json:"flags"`
	} `json:"tests"`
	File    string         `json:"-"` // on the site
	Bytes   int            `json:"-"`
	Accept  int            `json:"-"`
	ByFlag  map[string]int `json:"-"`
	content []byte
}

// A vecNote explains a flag.
type vecNote struct {
	BugClass string `json:"bug_class"`
	Gain     string `json:"gain"`
}

// loadVectors reads the files of vectors in a folder. It returns none if dir is "".
func loadVectors(dir string) ([]vectorsFile, error) {
	if dir == "" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: want files of vectors, found none", dir)
	}
	var all []vectorsFile
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := vectorsFile{File: "vectors/" + filepath.Base(path), Bytes: len(data), ByFlag: map[string]int{}, content: data}
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, fmt.Errorf("%s: want a file of vectors: %w", path, err)
		}
		for _, t := range f.List {
			if t.Expect == "accept" {
				f.Accept++
			}
			for _, flag := range t.Flags {
				f.ByFlag[flag]++
			}
		}
		f.List = nil
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b vectorsFile) int { return strings.Compare(a.Design, b.Design) }) // a codec precedes its claims
	return all, nil
}

// A vectorsPage is the data of the index page of vectors.
type vectorsPage struct {
	Files, Tests int
	Bytes        string
	Schemas      []page.Link // of the outputs of the command
	Index, Flags template.HTML
	Changelog    template.HTML
}

func (s *site) writeVectors() error {
	if len(s.Vectors) == 0 {
		return s.missing("vectors.html", "Vectors", "sealab site --vectors vectors/files")
	}
	p := vectorsPage{Files: len(s.Vectors)}
	index := page.Table{Caption: "Files", Columns: page.Head("design", "kind", "#tests", "#to accept", "#to refuse", "#version", "file"), Tools: &page.Tools{
		Search: "search files", Facets: []page.Facet{{Label: "kind", Key: "kind", Values: []string{"codec", "scheme"}}}}}
	notes, tests, files, bytes := map[string]vecNote{}, map[string]int{}, map[string]int{}, 0
	for _, f := range s.Vectors {
		p.Tests += f.Tests
		bytes += f.Bytes
		s.files[f.File] = f.content
		index.Rows = append(index.Rows, page.Row{Data: map[string]string{"kind": f.Kind}, Cells: []page.Cell{
			{Text: f.Design, Href: s.pageOf(f.Design)}, {Text: f.Kind}, {Text: fmt.Sprint(f.Tests)}, {Text: fmt.Sprint(f.Accept)}, {Text: fmt.Sprint(f.Tests - f.Accept)},
			{Text: fmt.Sprint(f.Version)}, {Text: fmt.Sprintf("%s, %s", filepath.Base(f.File), sizeText(float64(f.Bytes))), Href: f.File, Download: true},
		}})
		for flag, note := range f.Notes {
			notes[flag] = note
			tests[flag] += f.ByFlag[flag]
			files[flag]++
		}
	}
	p.Bytes = fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	flags := page.Table{Caption: "Flags", Columns: page.Head("flag", "bug that it guards against", "gain of an attacker", "#tests", "#files"), Tools: &page.Tools{Search: "search flags"}}
	for _, flag := range slices.Sorted(maps.Keys(notes)) {
		flags.Add(flag, notes[flag].BugClass, notes[flag].Gain, fmt.Sprint(tests[flag]), fmt.Sprint(files[flag]))
	}
	p.Index, p.Flags = index.HTML(), flags.HTML()
	for _, beside := range []string{"schema.json", "LAYOUTS.md", "accumulated.json"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(s.Source.Vectors)), beside))
		if err != nil {
			return err
		}
		s.files["vectors/"+strings.ToLower(beside)] = data
	}
	schemas, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Clean(s.Source.Vectors)), "schemas", "*.json"))
	if err != nil {
		return err
	}
	for _, path := range schemas {
		if s.files["vectors/schemas/"+filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return err
		}
		p.Schemas = append(p.Schemas, page.Link{Name: strings.TrimSuffix(filepath.Base(path), ".json"), File: "vectors/schemas/" + filepath.Base(path)})
	}
	if p.Changelog, err = changelogHTML(filepath.Join(s.Source.Vectors, "..", "..", "CHANGELOG.md")); err != nil {
		return err
	}
	return s.add("vectors.html", "Vectors", "Test vectors", "Tokens that an implementation must accept and tokens that it must refuse, for each wire format.", "vectors", p)
}

// changelogHTML returns the changes of the vectors from the module's changelog. It returns "" if there is
// no changelog.
func changelogHTML(path string) (template.HTML, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var html bytes.Buffer
	err = goldmark.Convert([]byte(changesOf("Vectors", string(text))), &html)
	return template.HTML(html.String()), err //nolint:gosec // made by goldmark without raw HTML
}

// changesOf returns the changelog entries of an area, each list under its kind: Added, Changed, Fixed or
// Removed.
func changesOf(area, changelog string) string {
	var all strings.Builder
	var kind string
	var inside bool
	for line := range strings.Lines(changelog) {
		level, title, heading := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case heading && level == "###":
			kind, inside = title, false
		case heading && level == "####":
			inside = title == area
			if inside {
				fmt.Fprintf(&all, "\n**%s**\n\n", kind)
			}
		case inside:
			all.WriteString(line)
		}
	}
	return all.String()
}

// pageOf returns the file name of a design's page, or "".
func (s *site) pageOf(name string) string {
	if slices.ContainsFunc(s.Designs, func(d *design) bool { return d.Name == name }) {
		return fileOf(name)
	}
	return ""
}
