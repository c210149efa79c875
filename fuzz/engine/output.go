package engine

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A Count holds the statistics of a run so far.
type Count struct {
	Executions int64
	New        int // number of inputs with new coverage
	Corpus     int // number of inputs, including seeds
	Coverage   int // number of counter bits; 0 if the engine did not print it
}

// An Output is the parsed output of the engine.
type Output struct {
	Count
	Tail  []string // the last lines, except statistics
	Blind bool     // set if no package has counters
	None  bool     // set if the program lacks the fuzz function
}

var (
	statLine     = regexp.MustCompile(`execs: (\d+) \(\d+/sec\), new interesting: (\d+) \(total: (\d+)\)`)
	coverageLine = regexp.MustCompile(` DEBUG .*(?:initial coverage bits|total bits): (\d+)`)
)

// tailLines is the length of Output.Tail.
const tailLines = 30

// Read parses the output of the engine to its end and calls progress after each
// line of statistics.
func (o *Output) Read(r io.Reader, progress func(Count)) error {
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

func (o *Output) line(line string, progress func(Count)) {
	if m := statLine.FindStringSubmatch(line); m != nil {
		o.Executions, _ = strconv.ParseInt(m[1], 10, 64) // the pattern matches only digits
		o.New, _ = strconv.Atoi(m[2])
		o.Corpus, _ = strconv.Atoi(m[3])
		progress(o.Count)
		return
	}
	if m := coverageLine.FindStringSubmatch(line); m != nil {
		o.Coverage, _ = strconv.Atoi(m[1])
		return
	}
	if strings.Contains(line, ", testing seed corpus: ") {
		o.Blind = true
	}
	if strings.Contains(line, "no fuzz tests to fuzz") {
		o.None = true
	}
	if line == "" || strings.Contains(line, " DEBUG ") || strings.HasPrefix(line, "fuzz: elapsed") {
		return
	}
	if o.Tail = append(o.Tail, line); len(o.Tail) > tailLines {
		o.Tail = o.Tail[1:]
	}
}
