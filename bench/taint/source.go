package taint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sealab/internal/taintfile"
)

// moduleVersion is what a path of a module's source has more than its import path.
var moduleVersion = regexp.MustCompile(`@[^/]+`)

// frame returns a frame with the text of its line, where the source is there.
// dir and file are what debug information that was built with -trimpath says:
// the import path, with a version where it is another module's.
func (p *program) frame(function, dir, file string, line int) taintfile.Frame {
	f := taintfile.Frame{Function: function, Line: line}
	if file == "" {
		return f
	}
	importPath := moduleVersion.ReplaceAllString(strings.TrimPrefix(dir, "./"), "")
	f.File = importPath + "/" + file
	folder, ok := p.sources[importPath]
	if !ok {
		return f
	}
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return f
	}
	if lines := strings.Split(string(text), "\n"); 0 < line && line <= len(lines) {
		f.Text = strings.TrimSpace(lines[line-1])
	}
	return f
}
