package main

import (
	"bufio"
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

// A capture is the randomness of captured tokens.
type capture struct {
	Tokens   int // of the file
	Tested   int // of the length that most of them have
	Repeated int // tokens that occur more than once
	// Runs are the runs of bytes that vary freely, in the tokens as decoded.
	Runs []captureRun
}

type captureRun struct {
	At         int
	Bytes      int
	MinEntropy float64 // bits of a byte, at least, with 99% confidence
	Effective  float64 // of the run, limited by its collisions
	Collisions int     // pairs of tokens with an equal run
	Failed     string
}

// readCapture tests the tokens of a file, one in each line.
func readCapture(name string) (*capture, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	seen, byLength := map[string]int{}, map[int][][]byte{}
	c := &capture{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var first []byte
	for lines.Scan() {
		token := slices.Clone(lines.Bytes())
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
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: line %d: %w", name, c.Tokens+1, err)
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
	for _, r := range tokenfmt.RandomRuns(most) {
		c.Runs = append(c.Runs, captureRun{r.From, r.Bytes, r.MinEntropy, r.EffectiveBits, r.Collisions, r.Failed()})
	}
	return c, nil
}

// write prints the capture as a table, with the failed tests below it.
func (c *capture) write(w io.Writer) error {
	fmt.Fprintf(w, "%d tokens, %d tested of one length, %d repeated\n", c.Tokens, c.Tested, c.Repeated)
	t := table.New("rrrrrl")
	t.Row("byte", "bytes", "min-entropy/byte", "effective bits", "collisions", "tests")
	for _, r := range c.Runs {
		t.Row(strconv.Itoa(r.At), strconv.Itoa(r.Bytes), fmt.Sprintf("%.2f", r.MinEntropy), fmt.Sprintf("%.1f", r.Effective), strconv.Itoa(r.Collisions), cmp.Or(r.Failed, "passed"))
	}
	_, err := fmt.Fprint(w, t.Text(table.Width(w)))
	return err
}
