package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// writeJSON writes v as indented JSON.
func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// requireWritable returns an error if no folder can be made at dir, before a run
// of minutes whose results go there. It leaves nothing behind.
func requireWritable(dir string) error {
	there := filepath.Clean(dir)
	for {
		_, err := os.Stat(there)
		if err == nil {
			break
		}
		if parent := filepath.Dir(there); errors.Is(err, fs.ErrNotExist) && parent != there {
			there = parent
			continue
		}
		return fmt.Errorf("results cannot be written to %s: %w", dir, err)
	}
	trial, err := os.MkdirTemp(there, ".trial-*")
	if err != nil {
		return fmt.Errorf("results cannot be written to %s: %w", dir, err)
	}
	return os.Remove(trial)
}

// A progress shows the progress of a run: a bar on a terminal, and a few lines
// elsewhere.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	stage    string
	began    time.Time // start of the stage
	shown    int       // the last step shown, of barSteps or lineSteps
}

// The number of steps in which a stage is shown.
const (
	barSteps  = 40
	lineSteps = 4
)

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// show shows that done of total steps of a stage are done, unless the same is
// shown already.
func (b *progress) show(stage string, done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := lineSteps
	if b.terminal {
		steps = barSteps
	}
	step := steps * done / max(1, total)
	if stage != b.stage {
		b.stage, b.began = stage, time.Now()
	} else if step == b.shown {
		return
	}
	b.shown = step
	if !b.terminal {
		fmt.Fprintf(b.w, "%s: %d of %d\n", stage, done, total)
		return
	}
	bar := strings.Repeat("#", step) + strings.Repeat(".", steps-step)
	fmt.Fprintf(b.w, "\r\x1b[K%-10s [%s] %3d %%%s", stage, bar, 100*done/max(1, total), b.left(done, total))
}

// left estimates the time until the stage ends.
func (b *progress) left(done, total int) string {
	if done == 0 {
		return ""
	}
	elapsed := time.Since(b.began)
	left := elapsed * time.Duration(total-done) / time.Duration(done)
	return fmt.Sprintf("  %v left", left.Round(time.Second))
}

// end clears the bar.
func (b *progress) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
}

// note prints a line in the place of the bar.
func (b *progress) note(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	fmt.Fprintln(b.w, line)
}

func (b *progress) clear() {
	if b.terminal {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
