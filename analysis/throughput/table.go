package throughput

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A table is text in columns: the first to the left, the others to the right.
type table [][]string

func (t *table) row(fields ...string) { *t = append(*t, fields) }

// write writes the table with two spaces before each line and between columns.
func (t table) write(w io.Writer) {
	widths := t.widths()
	for _, row := range t {
		var line strings.Builder
		for i, field := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(field))
			if i == 0 {
				line.WriteString("  " + field + gap)
			} else {
				line.WriteString("  " + gap + field)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

func (t table) widths() []int {
	var widths []int
	for _, row := range t {
		for i, field := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(field))
		}
	}
	return widths
}
