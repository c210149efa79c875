// Package cli holds the parts that the commands of this module share: exit
// statuses, error lines, usage errors and options of a design.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// The exit statuses of every command.
const (
	OK      = 0 // nothing was refuted
	Refuted = 1 // something was refuted, or is worse than before
	Fault   = 2 // wrong usage, a fault, or a question that could not be asked
)

// ErrRefuted ends a command with the status Refuted. The command has printed the
// reason.
var ErrRefuted = errors.New("refuted")

// Prepare makes root print errors and help as all commands of this module do, and
// returns it.
func Prepare(root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 "))
	explainUsage(root)
	addCommonFlags(root)
	return root
}

// Run executes a prepared root with the given arguments and returns its error. A
// failed write to stdout is an error, also if the command ignores it.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	out := &checkedWriter{w: stdout}
	began := time.Now()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	if err := checkCommand(root, args); err != nil {
		return err
	}
	err := root.Execute()
	if verbose, _ := root.PersistentFlags().GetBool("verbose"); verbose {
		fmt.Fprintf(stderr, "%s %s: %v\n", root.Name(), strings.Join(args, " "), time.Since(began).Round(time.Millisecond))
	}
	if out.err != nil {
		return fmt.Errorf("writing the output: %w", out.err)
	}
	return err
}

// A checkedWriter keeps the first error of its writes.
type checkedWriter struct {
	w     io.Writer
	err   error
	color bool // mark outcomes by colours
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	text := p
	if c.color {
		text = colored(p)
	}
	_, err := c.w.Write(text)
	if c.err == nil {
		c.err = err
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Fd returns the file descriptor below, so that a terminal is known as one.
func (c *checkedWriter) Fd() uintptr {
	if f, ok := c.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Exit prints err after the name of the program, in one line, and returns the
// exit status.
func Exit(stderr io.Writer, program string, err error) int {
	switch {
	case err == nil:
		return OK
	case errors.Is(err, ErrRefuted):
		return Refuted
	}
	fmt.Fprintf(stderr, "%s: %s\n", program, Line(err)) // there is nowhere to report a failed write
	return Fault
}

// Line returns the text of err as one line.
func Line(err error) string {
	text := strings.Replace(err.Error(), "\n\nDid you mean this?\n", "; did you mean ", 1) // cobra's suggestion
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer(": sealab: ", ": ", "(sealab: ", "(").Replace(strings.TrimPrefix(text, "sealab: "))
}

// ParseOptions reads options of a design that were given as name=value.
func ParseOptions(given []string) (map[string]string, error) {
	options := make(map[string]string, len(given))
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok {
			return nil, fmt.Errorf("option %q: want name=value", g)
		}
		options[name] = value
	}
	return options, nil
}
