package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"sealab/codecs/worker"
)

// explain writes err as one line and, where a worker ended, the last that it
// wrote to its standard error.
func explain(w io.Writer, err error) {
	fmt.Fprintln(w, oneLine(err))
	var fault *worker.FaultError
	if !errors.As(err, &fault) || strings.TrimSpace(fault.Event.Stderr) == "" {
		return
	}
	fmt.Fprintln(w, "the end of the worker's standard error:")
	for line := range strings.Lines(strings.TrimSpace(fault.Event.Stderr)) {
		fmt.Fprintln(w, "  "+strings.TrimRight(line, "\r\n"))
	}
}

// oneLine returns the text of err as one line that begins with "sealab: ", once.
func oneLine(err error) string {
	text := strings.Replace(err.Error(), "\n\nDid you mean this?\n", "; did you mean ", 1) // cobra's suggestion
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer(": sealab: ", ": ", "(sealab: ", "(").Replace(text)
	if !strings.HasPrefix(text, "sealab: ") {
		text = "sealab: " + text
	}
	return text
}
