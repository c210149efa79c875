package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// advance shows a run of n cells from start to end.
func advance(p *Progress, n int) {
	for _, stage := range []string{"preparing", "measuring"} {
		for done := range n + 1 {
			p.Show(stage, done, n)
		}
	}
	p.End()
}

func TestProgressIsPlainLinesInAFile(t *testing.T) {
	var out bytes.Buffer
	advance(NewProgress(&out), 1000)
	require.Equal(t, 10, strings.Count(out.String(), "\n"), "%s", out.String())
	require.NotContains(t, out.String(), "\r")
	require.Contains(t, out.String(), "measuring: 1000 of 1000\n")
}

func TestProgressIsOneBarOnATerminal(t *testing.T) {
	var out bytes.Buffer
	advance(&Progress{w: &out, Terminal: true}, 1000)
	require.NotContains(t, out.String(), "\n")
	require.Equal(t, 2*(barSteps+1)+1, strings.Count(out.String(), "\r"))
	require.Contains(t, out.String(), "100 %")
	require.True(t, strings.HasSuffix(out.String(), "\r\x1b[K"), "the bar is cleared at the end")
}
