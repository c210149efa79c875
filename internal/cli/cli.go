// Package cli holds the parts that the commands of this module share: exit statuses, error lines, usage
// errors, options of a design, JSON, progress and the outcomes of questions.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// The exit statuses of every command.
const (
	OK      = 0 // no guarantee was refuted
	Refuted = 1 // something was refuted, or is worse than before
	Fault   = 2 // wrong usage, a fault, or a question that could not be asked
)

// ErrRefuted ends a command with the status Refuted. The command has already printed the reason.
var ErrRefuted = errors.New("refuted")

// release is the semantic version of a released build, set by the linker.
var release string

// Version returns the version from which this binary was built.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(release, info.Main.Version, "unknown")
	}
	return cmp.Or(release, "unknown")
}

// Prepare makes root print errors and help in the style of this module, and returns it.
func Prepare(root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 "))
	explainUsage(root)
	addCommonFlags(root)
	return root
}

// Run executes a prepared root with the given arguments and returns its error. A failed write to stdout is
// an error even if the command ignores it.
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
	ran, err := root.ExecuteC()
	err = explainMissing(ran, err)
	if verbose, _ := root.PersistentFlags().GetBool("verbose"); verbose {
		fmt.Fprintf(stderr, "%s %s: %v\n", root.Name(), strings.Join(args, " "), time.Since(began).Round(time.Millisecond))
	}
	if out.err != nil {
		return fmt.Errorf("writing the output: %w", out.err)
	}
	return err
}

// Interruptible returns a command's context that the first interrupt or termination signal cancels. The
// second signal ends the process at once.
func Interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// A checkedWriter remembers the first error of its writes.
type checkedWriter struct {
	w     io.Writer
	err   error
	color bool // color the outcomes
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

// Fd returns the file descriptor of the underlying writer, so that a terminal is recognized.
func (c *checkedWriter) Fd() uintptr {
	if f, ok := c.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Exit prints err in one line, prefixed with the name of the program, and returns the exit status.
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

// ParseOptions parses design options of the form name=value.
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

// addCommonFlags adds the flags that every command of root has.
func addCommonFlags(root *cobra.Command) {
	var quiet bool
	var color string
	flags := root.PersistentFlags()
	flags.BoolVar(&quiet, "quiet", false, "print no progress and no notes on standard error")
	flags.Bool("verbose", false, "print the time that the command took")
	flags.StringVar(&color, "color", "auto", "mark outcomes by colors: auto, always or never; NO_COLOR turns auto off")
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if quiet {
			root.SetErr(io.Discard)
		}
		out, ok := root.OutOrStdout().(*checkedWriter)
		switch {
		case color != "auto" && color != "always" && color != "never":
			return fmt.Errorf("--color %q: want auto, always or never", color)
		case !ok:
		case color == "always":
			out.color = true
		case color == "auto" && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb":
			out.color = term.IsTerminal(int(out.Fd())) && !machine(cmd)
		}
		return nil
	}
}

// machine reports whether the output of a command is machine-readable.
func machine(cmd *cobra.Command) bool {
	asJSON, _ := cmd.Flags().GetBool("json")
	format, _ := cmd.Flags().GetString("format")
	return asJSON || format != "" && format != "text"
}

// outcomeWords matches the outcomes that are colored green, red or yellow.
var outcomeWords = regexp.MustCompile(`\b(not refuted|refuted|regressed|improved|missed|not tested|skipped|wrong)\b`)

func colored(text []byte) []byte {
	return outcomeWords.ReplaceAllFunc(text, func(word []byte) []byte {
		code := 31
		switch string(word) {
		case "not refuted", "improved":
			code = 32
		case "not tested", "skipped":
			code = 33
		}
		return fmt.Appendf(nil, "\x1b[%dm%s\x1b[0m", code, word)
	})
}

// explainUsage makes every command below cmd report wrong arguments and flags with its usage line.
func explainUsage(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		explainUsage(sub)
		if sub.Args != nil {
			sub.Args = explained(sub.Args)
		}
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
}

// explained returns check with an error that shows the usage line instead of cobra's count of arguments.
func explained(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return fmt.Errorf("wrong number of arguments: %d; want %s", len(args), cmd.UseLine())
	}
}

// missingFlags matches cobra's error for missing required flags.
var missingFlags = regexp.MustCompile(`^required flag\(s\) "(.*)" not set$`)

// explainMissing rewrites cobra's error so that it names the required flags as they are typed.
func explainMissing(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	names := missingFlags.FindStringSubmatch(err.Error())
	if names == nil {
		return err
	}
	return fmt.Errorf("want --%s; %s --help describes it", strings.ReplaceAll(names[1], `", "`, " and --"), cmd.CommandPath())
}

// checkCommand returns an error for an unknown subcommand, as in "sealab fuzz runn". Cobra would print the
// help of the group and report success. Cobra itself reports unknown commands of root, except after
// "help".
func checkCommand(root *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] == "help" {
		args = args[1:]
		if _, _, err := root.Find(args); err != nil {
			return err
		}
	}
	group, rest, err := root.Find(args)
	if err != nil || group == root || !group.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return fmt.Errorf("unknown command %q for %q; %s --help lists them", rest[0], group.CommandPath(), group.CommandPath())
}

// RenameFlag makes the flag called name accept an earlier name as well.
func RenameFlag(cmd *cobra.Command, earlier, name string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
		if given == earlier {
			return pflag.NormalizedName(name)
		}
		return pflag.NormalizedName(given)
	})
}
