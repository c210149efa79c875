package attack

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestGivenTools checks to which tool the arguments of the command line belong.
func TestGivenTools(t *testing.T) {
	for line, want := range map[string]string{
		`--tool a`: "a: ",
		`--tool a --args {"n":1} --tool b --args {"n":2}`: `a: {"n":1} b: {"n":2}`,
		`--tool a --tool b --args {"n":1} --args {"n":2}`: `a: {"n":1} b: {"n":2}`,
		`--tool a --tool b --args {"n":1}`:                `a: {"n":1} b: `,
		`--tool a --tool b --args {"n":1} --tool c`:       `a:  b: {"n":1} c: `,
		`--args {"n":1} --tool a --tool b`:                "error",
		`--args {"n":1}`:                                  "error",
		`--tool a --args {"n":1} --args {"n":2}`:          "error",
		`--tool a --args [1]`:                             "error",
	} {
		var f reviewFlags
		cmd := &cobra.Command{}
		f.add(cmd)
		require.NoError(t, cmd.ParseFlags(strings.Fields(line)), line)
		given, err := f.givenTools()
		var all []string
		for _, tool := range f.tools {
			all = append(all, tool+": "+string(given[tool].Arguments))
		}
		got := strings.Join(all, " ")
		if err != nil {
			got = "error"
		}
		require.Equal(t, want, got, line)
	}
}
