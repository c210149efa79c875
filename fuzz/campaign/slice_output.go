package campaign

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A count is the engine's statistics of a run so far.
type count struct {
	executions int64
	found      int // inputs that found new coverage
	corpus     int
	coverage   int // bits
}

var (
	statLine     = regexp.MustCompile(`execs: (\d+) \(\d+/sec\), new interesting: (\d+) \(total: (\d+)\)`)
	coverageLine = regexp.MustCompile(` DEBUG .*(?:initial coverage bits|total bits): (\d+)`)
)

// tailKept is how many lines of the engine's output are kept for a fault.
const tailKept = 30

// An engineOutput is what the engine wrote.
type engineOutput struct {
	count
	tail  []string // the last lines, without statistics
	blind bool     // the binary has no counters
}

// read reads the engine's output to its end and calls progress after each line
// of statistics. The engine says what it covers only among its debug lines.
func (o *engineOutput) read(r io.Reader, progress func(count)) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		o.line(strings.TrimRight(line, "\n"), progress)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (o *engineOutput) line(line string, progress func(count)) {
	if m := statLine.FindStringSubmatch(line); m != nil {
		o.executions, _ = strconv.ParseInt(m[1], 10, 64) // the pattern holds digits
		o.found, _ = strconv.Atoi(m[2])
		o.corpus, _ = strconv.Atoi(m[3])
		progress(o.count)
		return
	}
	if m := coverageLine.FindStringSubmatch(line); m != nil {
		o.coverage, _ = strconv.Atoi(m[1])
		return
	}
	if strings.Contains(line, ", testing seed corpus: ") {
		o.blind = true
	}
	if line == "" || strings.Contains(line, " DEBUG ") || strings.HasPrefix(line, "fuzz: elapsed") {
		return
	}
	if o.tail = append(o.tail, line); len(o.tail) > tailKept {
		o.tail = o.tail[1:]
	}
}
