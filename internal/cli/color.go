package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// addCommonFlags adds the flags that every command of root has.
func addCommonFlags(root *cobra.Command) {
	var quiet bool
	var color string
	flags := root.PersistentFlags()
	flags.BoolVar(&quiet, "quiet", false, "print no progress and no notes on standard error")
	flags.Bool("verbose", false, "print the time that the command took")
	flags.StringVar(&color, "color", "auto", "mark outcomes by colours: auto, always or never; NO_COLOR turns auto off")
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

// machine reports whether the output of a command is for a program.
func machine(cmd *cobra.Command) bool {
	asJSON, _ := cmd.Flags().GetBool("json")
	format, _ := cmd.Flags().GetString("format")
	return asJSON || format != "" && format != "text"
}

// The words of outcomes, with their colours: green, red and yellow.
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
