package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sealab/internal/atomicfile"
)

// A folder is where a campaign keeps everything.
type folder string

func (f folder) path(elements ...string) string {
	return filepath.Join(append([]string{string(f)}, elements...)...)
}

func (f folder) lock() string                  { return f.path("lock") }
func (f folder) subject() string               { return f.path("campaign.json") }
func (f folder) journal() string               { return f.path("journal.jsonl") }
func (f folder) damaged() string               { return f.path("damaged") }
func (f folder) corpora() string               { return f.path("corpus") }
func (f folder) corpus(t Target) string        { return f.path("corpus", t.Native) }
func (f folder) allCrashers() string           { return f.path("crashers") }
func (f folder) crashers(target string) string { return f.path("crashers", target) }
func (f folder) allDeadly() string             { return f.path("deadly") }
func (f folder) deadly(target string) string   { return f.path("deadly", target) }
func (f folder) scratches() string             { return f.path("scratch") }
func (f folder) scratch(t Target) string       { return f.path("scratch", t.Name) }
func (f folder) binary(name string) string     { return f.path("bin", name) }

// make makes the folders.
func (f folder) make(targets []Target) error {
	dirs := []string{f.corpora(), f.damaged(), f.path("bin"), f.scratches()}
	for _, t := range targets {
		dirs = append(dirs, f.crashers(t.Name), f.deadly(t.Name))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
	}
	return nil
}

// moveAway moves a file that cannot be read to damaged/, where a person may
// look at it, and returns a notice that says so.
func (f folder) moveAway(path string, reason error) (notice string, err error) {
	rel, err := filepath.Rel(string(f), path)
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	to := filepath.Join(f.damaged(), filepath.Base(filepath.Dir(rel))+"-"+filepath.Base(rel))
	if err := os.RemoveAll(to); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	if err := os.Rename(path, to); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	return fmt.Sprintf("%s is damaged (%v): moved to %s", path, reason, to), nil
}

// A subject is what a campaign fuzzes, as its folder keeps it.
type subject struct {
	Package string   `json:"package"`
	Replay  string   `json:"replay,omitempty"`
	Cover   string   `json:"cover,omitempty"`
	Tags    string   `json:"tags,omitempty"`
	Targets []Target `json:"targets"` // all that ever ran
}

// claim makes the folder a campaign on what c fuzzes, and refuses one that is a
// campaign on something else.
func (f folder) claim(c Config) (subject, error) {
	want := subject{Package: c.Package, Replay: c.Replay, Cover: c.Cover, Tags: c.Tags, Targets: c.Targets}
	before, err := f.readSubject()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return want, err
	case before.Package != want.Package || before.Tags != want.Tags:
		return want, fmt.Errorf("sealab: %s is a campaign on %s with tags %q: want %s with tags %q, or another folder",
			f, before.Package, before.Tags, want.Package, want.Tags)
	default:
		want.Targets = union(before.Targets, want.Targets)
	}
	data, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		return want, fmt.Errorf("sealab: %w", err)
	}
	return want, atomicfile.Write(f.subject(), append(data, '\n'))
}

func (f folder) readSubject() (subject, error) {
	var s subject
	data, err := os.ReadFile(f.subject())
	if err != nil {
		return s, fmt.Errorf("sealab: no campaign in %s: %w", f, err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("sealab: %s: %w; want what a campaign is on, as JSON", f.subject(), err)
	}
	return s, nil
}

// union returns the targets of a and those of b that a does not have.
func union(a, b []Target) []Target {
	all := slices.Clone(a)
	for _, t := range b {
		if !slices.Contains(a, t) {
			all = append(all, t)
		}
	}
	return all
}
