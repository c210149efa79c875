// Package table formats text in columns that fit a terminal.
package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A Table is rows of cells. The first row may be a heading.
type Table struct {
	align string
	rows  [][]string
	flush bool // no indent before each line
}

// New returns an empty table. align has a letter for each column: l aligns left and r aligns right. A
// capital letter marks an optional column. If the table is too wide, optional columns are dropped, the
// last one first. Columns beyond align follow its last letter.
func New(align string) *Table { return &Table{align: align} }

// AtMargin makes the table begin in the first column and returns it.
func (t *Table) AtMargin() *Table {
	t.flush = true
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// gap is the space between two columns.
const gap = "  "

// minWrapped is the least width to which the last column is wrapped.
const minWrapped = 24

// Text returns the table with two spaces before each line, unless AtMargin was called. Lines have at most
// width characters if possible; a width of 0 means no limit. If the table is too wide, Text first drops
// optional columns. Then it wraps the last column if that is aligned left.
func (t *Table) Text(width int) string {
	columns := t.columns(width)
	widths := t.widths(columns)
	room := 0 // of the last column; 0: no limit
	if last := len(columns) - 1; width > 0 && last >= 0 && t.left(columns[last]) && total(widths) > width {
		room = max(minWrapped, width-total(widths[:last])-len(gap))
		widths[last] = min(widths[last], room)
	}
	var b strings.Builder
	for _, row := range t.rows {
		t.writeRow(&b, row, columns, widths, room)
	}
	if !t.flush {
		return b.String()
	}
	text := strings.ReplaceAll("\n"+b.String(), "\n"+gap, "\n")
	return text[1:]
}

func (t *Table) writeRow(b *strings.Builder, row []string, columns, widths []int, room int) {
	var line strings.Builder
	var more []string // continuation lines of the last column
	indent := len(gap)
	for i, column := range columns {
		if column >= len(row) {
			break
		}
		cell := row[column]
		if room > 0 && i == len(columns)-1 {
			indent += utf8.RuneCountInString(line.String())
			lines := wrap(cell, room)
			cell, more = lines[0], lines[1:]
		}
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if t.left(column) {
			line.WriteString(gap + cell + pad)
		} else {
			line.WriteString(gap + pad + cell)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	for _, text := range more {
		b.WriteString(strings.Repeat(" ", indent) + text + "\n")
	}
}

func (t *Table) letter(column int) byte { return t.align[min(column, len(t.align)-1)] }

func (t *Table) left(column int) bool { return t.letter(column)|0x20 == 'l' }

// columns returns the indexes of the columns to write.
func (t *Table) columns(width int) []int {
	var all []int
	for _, row := range t.rows {
		for len(all) < len(row) {
			all = append(all, len(all))
		}
	}
	for i := len(all) - 1; i >= 0 && width > 0 && total(t.widths(all)) > width; i-- {
		if letter := t.letter(all[i]); letter == 'L' || letter == 'R' {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}

func (t *Table) widths(columns []int) []int {
	widths := make([]int, len(columns))
	for _, row := range t.rows {
		for i, column := range columns {
			if column < len(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[column]))
			}
		}
	}
	return widths
}

// total returns the width of a line of columns.
func total(widths []int) int {
	sum := 0
	for _, w := range widths {
		sum += len(gap) + w
	}
	return sum
}

// wrap breaks text at spaces into lines of at most width characters. Longer words stay whole.
func wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Count returns n and a noun that takes an s in the plural.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Write writes the table to w. If w is a terminal, the table fits its width.
func (t *Table) Write(w io.Writer) error {
	_, err := io.WriteString(w, t.Text(Width(w)))
	return err
}

// Width returns the number of columns of w if it is a terminal, otherwise 0.
func Width(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
