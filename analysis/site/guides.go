package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// guideFiles are the guides in Markdown. A test runs their commands.
//
//go:embed guides
var guideFiles embed.FS

// A Command is the Markdown page of one command, as cobra writes it.
type Command struct{ Name, Markdown string }

// A guide is a page of documentation.
type guide struct {
	File, Title, Lead string
	Body              template.HTML
}

// languageNotes describes how to use the vectors in each language.
var languageNotes = map[string]string{
	"Any language": "Speak the worker protocol on standard input and output, and run sealab vectors verify --worker COMMAND FILE. No code reads the file.",
	"Go":           "sealab vectors verify asks the designs of this module. Package vectors decodes a file.",
	"Java":         "vectors/consumers/java reads the files with the JCA, in one file without a dependency.",
	"Python":       "vectors/consumers/python tests the Python MCP SDK with pytest; hpke beside it tests the HPKE designs.",
	"Ruby":         "vectors/consumers/ruby reads the files with openssl of the standard library.",
	"Rust":         "vectors/consumers/rust reads the files with RustCrypto, as cargo test.",
	"TypeScript":   "vectors/consumers/typescript tests the TypeScript MCP SDK with node --test.",
}

func (s *site) writeGuides() error {
	all, err := readGuides()
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := s.add(g.File, "Guides", g.Title, g.Lead, "guide", g); err != nil {
			return err
		}
	}
	if err := s.writeCommands(); err != nil {
		return err
	}
	return s.add("guides.html", "Guides", "Guides", "Ten minutes for each kind of user. A test of this project runs every command.", "guides",
		struct {
			All      []guide
			Commands int
		}{all, len(s.Commands)})
}

// A reference is the help of one command.
type reference struct {
	ID, Name string
	Help     template.HTML
}

// inheritedSections matches the sections of a command's page about common flags and other pages.
var inheritedSections = regexp.MustCompile(`(?s)\n### (Options inherited|SEE ALSO).*`)

// writeCommands writes a page with the help of all commands.
func (s *site) writeCommands() error {
	if len(s.Commands) == 0 {
		return nil
	}
	markdown := goldmark.New()
	var all []reference
	for _, c := range s.Commands {
		_, text, ok := strings.Cut(inheritedSections.ReplaceAllString(c.Markdown, "\n"), "\n")
		if !ok {
			return fmt.Errorf("the page of %q: want a title and a text", c.Name)
		}
		help, err := rendered(markdown, text)
		if err != nil {
			return fmt.Errorf("the page of %q: %w", c.Name, err)
		}
		all = append(all, reference{strings.ReplaceAll(c.Name, " ", "-"), c.Name, help})
	}
	return s.add("commands.html", "Guides", "Commands", "The help of every command. sealab COMMAND --help prints the same.", "commands", all)
}

// readGuides renders the guides. The first line of a guide is its title, and the first paragraph is its
// lead.
func readGuides() ([]guide, error) {
	names, err := fs.Glob(guideFiles, "guides/*.md")
	if err != nil {
		return nil, err
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table))
	var all []guide
	for _, name := range names {
		text, err := fs.ReadFile(guideFiles, name)
		if err != nil {
			return nil, err
		}
		parts := strings.SplitN(string(text), "\n\n", 3)
		title, ok := strings.CutPrefix(parts[0], "# ")
		if !ok || len(parts) < 3 {
			return nil, fmt.Errorf("%s: want a title, a paragraph and a text", name)
		}
		body, err := rendered(markdown, parts[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		_, short, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".md"), "-")
		all = append(all, guide{"guide-" + short + ".html", title, strings.ReplaceAll(parts[1], "\n", " "), body})
	}
	return all, nil
}

// rendered returns Markdown as HTML. The keyboard can scroll its programs.
func rendered(markdown goldmark.Markdown, text string) (template.HTML, error) {
	var html bytes.Buffer
	err := markdown.Convert([]byte(text), &html)
	return template.HTML(strings.ReplaceAll(html.String(), "<pre>", `<pre tabindex="0">`)), err //nolint:gosec // made by goldmark without raw HTML
}
