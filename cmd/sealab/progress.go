package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// A progress shows how far a run is: as a bar that grows on a terminal, and
// elsewhere as a line now and then.
type progress struct {
	w        io.Writer
	terminal bool
	stage    string
	began    time.Time // of the stage
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

// show shows that so many steps of a stage are done, unless that looks like
// what is there already.
func (b *progress) show(stage string, done, total int) {
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

// left estimates how long the stage still takes.
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
	if b.terminal {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
