package tokens

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/table"
)

// inspectCapture prints the results of randomness tests of the tokens in a
// file.
func inspectCapture(w io.Writer, file string, args []string, design string, asJSON bool) error {
	if len(args) > 0 || design != "" || asJSON {
		return fmt.Errorf("--capture takes no token, no --design and no --json")
	}
	c, err := readCapture(file)
	if err != nil {
		return err
	}
	return c.write(w)
}

// A captureReport holds the results of randomness tests of captured tokens.
type captureReport struct {
	Tokens   int // in the file
	Tested   int // tokens of the most common length
	Repeated int // tokens that occur more than once
	// Runs are the runs of freely varying bytes in the decoded tokens.
	Runs []tokenfmt.RandomnessReport
}

// readCapture tests the tokens in a file with one token per line.
func readCapture(name string) (*captureReport, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	seen, byLength := map[string]int{}, map[int][][]byte{}
	c := &captureReport{}
	var first []byte
	for line := range bytes.Lines(data) {
		token := bytes.TrimRight(line, "\r\n")
		if len(token) == 0 {
			continue
		}
		if first == nil {
			first = token
		}
		c.Tokens++
		if seen[string(token)]++; seen[string(token)] == 2 {
			c.Repeated++
		}
		raw := tokenfmt.Infer(token, first).Bytes()
		byLength[len(raw)] = append(byLength[len(raw)], raw)
	}
	var most [][]byte
	for _, n := range slices.Sorted(maps.Keys(byLength)) {
		if len(byLength[n]) > len(most) {
			most = byLength[n]
		}
	}
	if c.Tested = len(most); c.Tested < tokenfmt.MinTokens {
		return nil, fmt.Errorf("%s: got %d tokens of one length, want at least %d", name, c.Tested, tokenfmt.MinTokens)
	}
	c.Runs = tokenfmt.RandomRuns(most)
	return c, nil
}

// write prints the capture as a table, followed by the failed tests.
func (c *captureReport) write(w io.Writer) error {
	fmt.Fprintf(w, "%d tokens, %d tested of one length, %d repeated\n", c.Tokens, c.Tested, c.Repeated)
	t := table.New("rrrrrl")
	t.Row("byte", "bytes", "min-entropy/byte", "effective bits", "collisions", "tests")
	for _, r := range c.Runs {
		t.Row(strconv.Itoa(r.From), strconv.Itoa(r.Bytes), fmt.Sprintf("%.2f", r.MinEntropy), fmt.Sprintf("%.1f", r.EffectiveBits), strconv.Itoa(r.Collisions), cmp.Or(r.Failed(), "passed"))
	}
	return t.Write(w)
}
