package review_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/rawmcp"
)

// A matrix holds the answers that servers gave on 2026-11-21, with a row for each request and a
// column for each server.
type matrix struct {
	name    string
	columns []string
	rows    []string
	cells   map[[2]string]string // by row and column
	width   int                  // of a cell, in characters
}

// readMatrix reads testdata/matrices/NAME.txt. Its columns begin where their names begin.
func readMatrix(t *testing.T, name string) matrix {
	t.Helper()
	data, err := os.ReadFile("testdata/matrices/" + name + ".txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	m := matrix{name: name, columns: strings.Fields(lines[0]), cells: map[[2]string]string{}}
	var starts []int
	for _, c := range m.columns {
		starts = append(starts, strings.Index(lines[0], c))
	}
	m.width = starts[1] - starts[0] - 1
	for _, line := range lines[1:] {
		row := strings.TrimSpace(line[:starts[0]])
		m.rows = append(m.rows, row)
		for i, c := range m.columns {
			if starts[i] < len(line) {
				m.cells[[2]string{row, c}] = strings.TrimSpace(line[starts[i]:min(len(line), starts[i]+m.width)])
			}
		}
	}
	return m
}

// A difference is a cell for which a server now gives another answer, and the reason.
type difference struct{ answer, reason string }

// readDifferences reads the differences of a matrix, from lines "matrix | row | server | answer |
// reason".
func readDifferences(t *testing.T, name string) map[[2]string]difference {
	t.Helper()
	data, err := os.ReadFile("testdata/matrices/differences.txt")
	require.NoError(t, err)
	all := map[[2]string]difference{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		require.Len(t, f, 5, line)
		require.NotEmpty(t, f[4], line)
		if f[0] == name {
			all[[2]string{f[1], f[2]}] = difference{f[3], f[4]}
		}
	}
	return all
}

// remark matches a cell with a remark on how the connection ended.
var remark = regexp.MustCompile(`^(\d{3} - b'') .*`)

// same reports whether an answer equals that of a cell, which may be cut to the width of the
// column.
func (m matrix) same(cell, answer string) bool {
	if found := remark.FindStringSubmatch(cell); found != nil {
		cell = found[1]
	}
	return strings.HasPrefix(answer, cell) && (answer == cell || len(cell) >= m.width-2)
}

// compare compares the answers of a server with its column. Each row must have an answer, and each
// listed difference must still exist.
func (m matrix) compare(t *testing.T, column string, answers map[string]string) {
	t.Helper()
	differences := readDifferences(t, m.name)
	asked := 0
	for _, row := range m.rows {
		cell := m.cells[[2]string{row, column}]
		got, ok := answers[row]
		switch {
		case cell == "-" || cell == "", ok && got == "":
			continue
		case !ok:
			t.Errorf("%s: no request asks this row", row)
			continue
		}
		asked++
		d, known := differences[[2]string{row, column}]
		switch {
		case known && m.same(cell, got):
			t.Errorf("%s: got %s as in the matrix, want no row in differences.txt", row, got)
		case known && d.answer != got, !known && !m.same(cell, got):
			want := cell
			if known {
				want = d.answer
			}
			t.Errorf("%s | %s | %s | %s: want %s", m.name, row, column, got, want)
		}
	}
	for at := range differences {
		require.True(t, at[1] != column || slices.Contains(m.rows, at[0]), "differences.txt: no row %q", at[0])
	}
	t.Logf("%d cells", asked)
}

// class returns an answer in the notation of the matrices: the status and the code, or the type and
// the first bytes of the body.
func class(e *rawmcp.Exchange) string {
	for _, raw := range slices.Backward(e.Messages) {
		var r struct {
			Result *struct{ IsError bool }
			Error  *struct{ Code int }
		}
		switch err := json.Unmarshal(raw, &r); {
		case err != nil:
		case r.Error != nil:
			return fmt.Sprintf("%d %d", e.Status, r.Error.Code)
		case r.Result != nil && r.Result.IsError:
			return fmt.Sprintf("%d isE", e.Status)
		case r.Result != nil:
			return fmt.Sprintf("%d ok", e.Status)
		}
	}
	media := typeOf(e)
	if media == "-" || !e.Stream {
		return fmt.Sprintf("%d %s b%s", e.Status, media, firstBytes(e))
	}
	return fmt.Sprintf("%d %s", e.Status, media)
}

// typeOf returns the Content-Type of a response without parameters, or "-".
func typeOf(e *rawmcp.Exchange) string {
	media, _, _ := strings.Cut(e.Header("Content-Type"), ";")
	if media == "" {
		return "-"
	}
	return media
}

// firstBytes returns the beginning of a body as a Python bytes literal.
func firstBytes(e *rawmcp.Exchange) string {
	text, quote := string(e.Body), "'"
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = `"`
	}
	return quote + text[:min(len(text), 30)] + quote
}
