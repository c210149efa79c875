package campaign

import (
	"fmt"
	"go/format"
	"slices"
	"strings"

	"sealab/fuzz/campaign/harness"
)

// regressionTest returns a test that runs the sequence of k. It calls the
// function requireHolds(t, target, inputs...), which the package of the fuzz
// functions has, and which judges the last input.
func regressionTest(k Crasher, pkg string, s sequence) ([]byte, error) {
	var inputs strings.Builder
	for _, input := range append(slices.Clip(s.before), s.input) {
		fmt.Fprintf(&inputs, ",\n%q", input)
	}
	source := fmt.Sprintf(`package %s_test

import "testing"

// %[2]s runs what a campaign found:
// %[3]s: %[4]s
func %[2]s(t *testing.T) {
	requireHolds(t, %[5]q%[6]s)
}
`, pkg, testName(k), k.Kind, oneLine(k.Text), k.Target, inputs.String())
	test, err := format.Source([]byte(source))
	if err != nil {
		return nil, fmt.Errorf("sealab: the regression test of %s: %w", k.Bucket, err)
	}
	return test, nil
}

// testName is "TestTextError0123456789" for the bucket error-0123456789 of text.
func testName(k Crasher) string {
	name := "Test"
	for word := range strings.SplitSeq(k.Target+"-"+k.Bucket, "-") {
		if word != "" {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}

// reproduction returns a script that runs the smallest input of k plainly, after
// its history where it has one.
func reproduction(k Crasher, t Target, pkg, tags string, env []string) []byte {
	if tags != "" {
		tags = " -tags " + tags
	}
	var settings strings.Builder
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		fmt.Fprintf(&settings, "export %s=%s\n", name, quote(value))
	}
	if k.After > 0 {
		fmt.Fprintf(&settings, "export %s=\"$crasher/%s\"\n", harness.EnvHistory, historyFolder)
	}
	return fmt.Appendf(nil, `#!/bin/sh
# %s, %s: %s
# Run it from the root of the repository: sh reproduce.sh
crasher=$(cd "$(dirname "$0")" && pwd)
%s%s="$crasher/%s" exec go test -count=1 -run '^%s$'%s %s
`, k.Target, k.Bucket, oneLine(k.Text), settings.String(), harness.EnvInput, minimizedFile, t.Native, tags, pkg)
}

// quote quotes s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
