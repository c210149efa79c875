package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sealab/internal/atomicfile"
)

// A folder is the path of a campaign's folder.
type folder string

func (f folder) path(elements ...string) string {
	return filepath.Join(append([]string{string(f)}, elements...)...)
}

func (f folder) corpus(t Target) string        { return f.path("corpus", t.Native) }
func (f folder) crashers(target string) string { return f.path("crashers", target) }
func (f folder) skip(target string) string     { return f.path("skip", target) }
func (f folder) scratch(t Target) string       { return f.path("scratch", t.Name) }
func (f folder) program(name string) string    { return f.path("bin", name) }

const (
	manifestFile = "campaign.json"
	journalFile  = "journal.jsonl"
)

// make creates the folders.
func (f folder) make(targets []Target) error {
	dirs := []string{f.path("corpus"), f.path("damaged"), f.path("bin"), f.path("scratch")}
	for _, t := range targets {
		dirs = append(dirs, f.crashers(t.Name), f.skip(t.Name))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// clear removes half-written files and the temporary folders of jobs.
func (f folder) clear() error {
	err := removePrefixed(f.path("scratch"), "job-")
	for _, kind := range []string{"crashers", "corpus"} {
		names, readErr := namesIn(f.path(kind))
		err = errors.Join(err, readErr)
		for _, name := range names {
			err = errors.Join(err, removePrefixed(f.path(kind, name), "."))
		}
	}
	return err
}

func removePrefixed(dir, prefix string) error {
	names, err := namesIn(dir)
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return err
}

// namesIn returns the names in dir, sorted. A missing folder is empty. It does not use
// filepath.Glob, because a person names the folder and may use brackets.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// moveAway moves an unreadable file to damaged/ and returns a notice.
func (f folder) moveAway(path string, reason error) (notice string, err error) {
	rel, err := filepath.Rel(string(f), path)
	if err != nil {
		return "", err
	}
	to := f.path("damaged", filepath.Base(filepath.Dir(rel))+"-"+filepath.Base(rel))
	if err := os.RemoveAll(to); err != nil {
		return "", err
	}
	if err := os.Rename(path, to); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is damaged (%v): moved to %s", path, reason, to), nil
}

// A Manifest describes a campaign in its folder.
type Manifest struct {
	Package string   `json:"package"`
	Replay  string   `json:"replay,omitempty"`
	Cover   string   `json:"cover,omitempty"`
	Tags    string   `json:"tags,omitempty"`
	Targets []Target `json:"targets"` // all targets that ever ran
}

var (
	targetName  = regexp.MustCompile(`^[a-z0-9-]+$`)
	nativeName  = regexp.MustCompile(`^Fuzz[A-Za-z0-9_]*$`)
	packageName = regexp.MustCompile(`^[A-Za-z0-9_.~/][A-Za-z0-9_.~/-]*$`) // "-toolexec=..." would be a flag
	tagList     = regexp.MustCompile(`^[A-Za-z0-9_.,]*$`)
)

// check returns an error unless the names in m are safe in paths and in arguments of the go
// command. The folder may come from someone else.
func (m Manifest) check() error {
	for _, pkg := range slices.Concat([]string{m.Package}, splitPatterns(m.Replay), splitPatterns(m.Cover)) {
		if !packageName.MatchString(pkg) {
			return fmt.Errorf("package %q: want a pattern that matches %s", pkg, packageName)
		}
	}
	if !tagList.MatchString(m.Tags) {
		return fmt.Errorf("tags %q: want names separated by commas", m.Tags)
	}
	for _, t := range m.Targets {
		if !targetName.MatchString(t.Name) || !nativeName.MatchString(t.Native) {
			return fmt.Errorf("target %q with function %q: want names that match %s and %s", t.Name, t.Native, targetName, nativeName)
		}
	}
	return nil
}

// splitPatterns splits a comma-separated list of patterns.
func splitPatterns(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// claim writes the manifest. It keeps the targets of earlier runs. It returns an error if the
// folder holds a campaign on another package or with other tags.
func (f folder) claim(m Manifest) error {
	before, err := ReadManifest(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case before.Package != m.Package || before.Tags != m.Tags:
		return fmt.Errorf("%s is a campaign on %s with tags %q: want %s with tags %q, or another folder",
			f, before.Package, before.Tags, m.Package, m.Tags)
	}
	all := slices.Clone(before.Targets)
	for _, t := range m.Targets {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	m.Targets = all
	return atomicfile.WriteJSON(f.path(manifestFile), m, "  ")
}

// ReadManifest reads the manifest of the campaign in dir.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	path := folder(dir).path(manifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("no campaign in %s: %w", dir, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w; want the description of a campaign, as JSON", path, err)
	}
	if err := m.check(); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// CorpusSize returns the number of files in the corpus of a target.
func CorpusSize(dir string, t Target) (int, error) {
	names, err := namesIn(folder(dir).corpus(t))
	return len(names), err
}
