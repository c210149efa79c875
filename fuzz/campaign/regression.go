package campaign

import (
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sealab/fuzz/campaign/harness"
)

// regressionTest returns the source of a test that runs the sequence of k. The test calls
// requirePasses(t, target, inputs...), which the package of the fuzz functions must define.
// That function requires the last input to pass.
func regressionTest(k Crasher, pkg string, s inputSequence) ([]byte, error) {
	var inputs strings.Builder
	for _, input := range append(slices.Clip(s.before), s.input) {
		fmt.Fprintf(&inputs, ",\n%q", input)
	}
	source := fmt.Sprintf(`package %s_test

import "testing"

// %[2]s runs an input that a campaign found:
// %[3]s: %[4]s
func %[2]s(t *testing.T) {
	requirePasses(t, %[5]q%[6]s)
}
`, pkg, testName(k), k.Kind, OneLine(k.Text), k.Target, inputs.String())
	test, err := format.Source([]byte(source))
	if err != nil {
		return nil, fmt.Errorf("the regression test of %s: %w", k.Bucket, err)
	}
	return test, nil
}

// testName returns the name of the test, such as "TestTextError0123456789" for the bucket
// error-0123456789 of target text.
func testName(k Crasher) string {
	name := "Test"
	for word := range strings.SplitSeq(k.Target+"-"+k.Bucket, "-") {
		if word != "" {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}

// reproductionScript returns a script that runs the minimized input of k in plain go test. If
// there is a history, it runs first.
func reproductionScript(k Crasher, t Target, pkg, tags string, env []string) []byte {
	if tags != "" {
		tags = " -tags " + shellQuote(tags)
	}
	var settings strings.Builder
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		fmt.Fprintf(&settings, "export %s=%s\n", name, shellQuote(value))
	}
	if k.After > 0 {
		fmt.Fprintf(&settings, "export %s=\"$crasher/%s\"\n", harness.EnvHistory, historyFolder)
	}
	return fmt.Appendf(nil, `#!/bin/sh
# %s, %s: %s
# Run it from the root of the repository: sh reproduce.sh
crasher=$(cd "$(dirname "$0")" && pwd)
%s%s="$crasher/%s" exec go test -count=1 -run '^%s$'%s %s
`, k.Target, k.Bucket, OneLine(k.Text), settings.String(), harness.EnvInput, minimizedFile, t.Native, tags, pkg)
}

// shellQuote quotes s for a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Printable returns text with escapes for invalid UTF-8 and for every character that is neither
// printable nor a line feed. A failure may quote its input, and an escape sequence would
// control a terminal.
func Printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == unicode.ReplacementChar && !strings.HasPrefix(text[i:], string(r)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			escaped := strconv.QuoteRuneToASCII(r)
			b.WriteString(escaped[1 : len(escaped)-1])
		}
	}
	return b.String()
}

// maxLine is the maximum length of OneLine in characters.
const maxLine = 200

// OneLine returns the first line of text in printable form. Long quoted values are shortened,
// and the line is truncated after maxLine characters.
func OneLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = longQuote.ReplaceAllString(Printable(line), `$1..."`)
	if runes := []rune(line); len(runes) > maxLine {
		return string(runes[:maxLine]) + "..."
	}
	return line
}

// longQuote matches a quoted value of more than 40 characters.
var longQuote = regexp.MustCompile(`("(?:[^"\\]|\\.){24})(?:[^"\\]|\\.){16,}"`)
