package table_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"sealab/internal/table"
)

func sample() *table.Table {
	t := table.New("lrRl")
	t.Row("", "time", "±", "remark")
	t.Row("aes", "1.5 µs", "2%", "not refuted, and far below the limit of the run")
	t.Row("a longer name", "12 µs", "13%")
	return t
}

func TestColumns(t *testing.T) {
	require.Equal(t, strings.Join([]string{
		"                   time    ±  remark",
		"  aes            1.5 µs   2%  not refuted, and far below the limit of the run",
		"  a longer name   12 µs  13%",
		"",
	}, "\n"), sample().Text(0))
	require.Empty(t, table.New("l").Text(80))
}

// TestNarrow checks that the optional column is dropped first and the last column wrapped next.
func TestNarrow(t *testing.T) {
	require.Equal(t, strings.Join([]string{
		"                   time  remark",
		"  aes            1.5 µs  not refuted, and far",
		"                         below the limit of the",
		"                         run",
		"  a longer name   12 µs",
		"",
	}, "\n"), sample().Text(49))
	for width := 50; width < 120; width++ {
		for line := range strings.Lines(sample().Text(width)) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), width, "%d: %q", width, line)
		}
	}
}

// TestAtMargin checks that only the indent before each line is removed.
func TestAtMargin(t *testing.T) {
	flat := table.New("ll").AtMargin()
	flat.Row("a", "  kept")
	flat.Row("bb", "x y")
	require.Equal(t, "a     kept\nbb  x y\n", flat.Text(0))
	require.Equal(t, "a     kept\nbb  x y\n", flat.Text(20))
}

func TestWidthOfNoTerminal(t *testing.T) {
	require.Zero(t, table.Width(new(bytes.Buffer)))
}

func TestCount(t *testing.T) {
	require.Equal(t, "0 cells", table.Count(0, "cell"))
	require.Equal(t, "1 cell", table.Count(1, "cell"))
	require.Equal(t, "2 cells", table.Count(2, "cell"))
}
