package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// A Progress shows the progress of a run: a bar on a terminal, or a few lines
// elsewhere.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	Terminal bool // w is a terminal
	stage    string
	began    time.Time // start of the stage
	shown    int       // the last step shown, of barSteps or lineSteps
}

// The number of steps that are shown for a stage.
const (
	barSteps  = 40
	lineSteps = 4
)

func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	return &Progress{w: w, Terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Show shows that done of total steps of a stage are complete, unless that
// would look the same as before.
func (b *Progress) Show(stage string, done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := lineSteps
	if b.Terminal {
		steps = barSteps
	}
	step := steps * done / max(1, total)
	if stage != b.stage {
		b.stage, b.began = stage, time.Now()
	} else if step == b.shown {
		return
	}
	b.shown = step
	if !b.Terminal {
		fmt.Fprintf(b.w, "%s: %d of %d\n", stage, done, total)
		return
	}
	bar := strings.Repeat("#", step) + strings.Repeat(".", steps-step)
	fmt.Fprintf(b.w, "\r\x1b[K%-10s [%s] %3d %%%s", stage, bar, 100*done/max(1, total), b.left(done, total))
}

// left estimates the time until the stage ends.
func (b *Progress) left(done, total int) string {
	if done == 0 {
		return ""
	}
	elapsed := time.Since(b.began)
	left := elapsed * time.Duration(total-done) / time.Duration(done)
	return fmt.Sprintf("  %v left", left.Round(time.Second))
}

// End clears the bar.
func (b *Progress) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
}

// Note prints a line in place of the bar.
func (b *Progress) Note(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	fmt.Fprintln(b.w, line)
}

func (b *Progress) clear() {
	if b.Terminal {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
