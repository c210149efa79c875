package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"sealab/cmd/sealab/internal/subject"
	"sealab/fuzz/targets"
)

// commands returns every command without subcommands below root.
func commands(root *cobra.Command) (all []*cobra.Command) {
	for _, sub := range root.Commands() {
		if sub.HasSubCommands() {
			all = append(all, commands(sub)...)
		} else {
			all = append(all, sub)
		}
	}
	return all
}

// TestHelpExamples parses every example in the help of every command. The
// command must accept its flags, arguments and names. The examples are not run.
func TestHelpExamples(t *testing.T) {
	all := commands(newRoot())
	require.NotEmpty(t, all)
	for _, cmd := range all {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			require.NotEmpty(t, cmd.Long)
			lines := exampleLines(cmd.Example)
			require.NotEmpty(t, lines, "no example runs sealab")
			for _, line := range lines {
				require.NoError(t, taken(line), "%q", line)
			}
		})
	}
}

// sealabCall matches a call of the command in a shell line.
var sealabCall = regexp.MustCompile(`(?:^|\| )sealab ([^|<>]*)`)

// exampleLines returns the arguments of each call in an example.
func exampleLines(example string) (lines [][]string) {
	for line := range strings.Lines(example) {
		for _, call := range sealabCall.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
			lines = append(lines, words(call[1]))
		}
	}
	return lines
}

var wordForm = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)

// words splits a line as a shell does; a quoted text is one word.
func words(line string) []string {
	all := wordForm.FindAllString(line, -1)
	for i := range all {
		all[i] = strings.Trim(all[i], `"'`)
	}
	return all
}

// taken returns the error with which the command refuses a line, or nil.
func taken(line []string) error {
	cmd, rest, err := newRoot().Find(line)
	if err != nil {
		return err
	}
	if err := errors.Join(cmd.ParseFlags(rest), cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
		return err
	}
	args := cmd.Flags().Args()
	for _, name := range args {
		switch {
		case strings.Contains(cmd.Use, "DESIGN"):
			_, err = subject.FindDesign(name)
		case strings.Contains(cmd.Use, "TARGET..."):
			_, err = targets.Find(name)
		}
		if err != nil {
			return err
		}
	}
	return cmd.ValidateArgs(args)
}

// TestFlagsAreExplained checks that every flag has a help text.
func TestFlagsAreExplained(t *testing.T) {
	for _, cmd := range commands(newRoot()) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			require.NotEmpty(t, f.Usage, "%s --%s", cmd.CommandPath(), f.Name)
		})
	}
}

// TestHelpFitsATerminal checks that prose and flags in the help fit into 80
// columns. Examples may be longer, because users copy them.
func TestHelpFitsATerminal(t *testing.T) {
	for _, cmd := range commands(newRoot()) {
		for line := range strings.Lines(cmd.Long + "\n" + cmd.LocalFlags().FlagUsagesWrapped(80)) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, "%s: %s", cmd.CommandPath(), line)
		}
		require.NotContains(t, cmd.UsageTemplate(), "FlagUsages ", cmd.CommandPath())
	}
}

// TestExamplesCanBeRefused checks that the check of examples detects wrong
// ones.
func TestExamplesCanBeRefused(t *testing.T) {
	require.Equal(t, [][]string{{"attack", "--worker", "python3 worker.py"}, {"inspect"}},
		exampleLines("  printf x | sealab attack --worker \"python3 worker.py\"\n  sealab inspect < token\n  make fuzz\n"))
	for _, line := range []string{"nope", "attack nope", "seal aes-256-gcm", "bench --nope", "bench nope", "bench --quick --rounds 3"} {
		require.Error(t, taken(words(line)), line)
	}
}
