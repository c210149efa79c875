package campaign

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"sealab/internal/atomicfile"
)

// A Profile says which blocks of statements ran, and how often.
type Profile struct {
	blocks map[string]*block // by position, "sealab/codecs/internal/base64url/b64.go:10.2,12.3"
}

type block struct{ statements, times int }

// add adds a profile as text: a line with the mode, then one line per
// block with its position, number of statements and count. It leaves out the
// package that is not under test.
func (p Profile) add(file, without string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if strings.HasPrefix(line, "mode: ") || strings.HasPrefix(line, without+"/") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return fmt.Errorf("sealab: %s:%d: want a position, statements and a count", file, number)
		}
		statements, err1 := strconv.Atoi(fields[1])
		times, err2 := strconv.Atoi(fields[2])
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("sealab: %s:%d: %w", file, number, err)
		}
		b := p.blocks[fields[0]]
		if b == nil {
			b = &block{statements: statements}
			p.blocks[fields[0]] = b
		}
		b.times += times
	}
	return nil
}

// Write writes the profile for "go tool cover".
func (p Profile) Write(file string) error {
	var b strings.Builder
	b.WriteString("mode: atomic\n")
	for _, position := range p.positions() {
		fmt.Fprintf(&b, "%s %d %d\n", position, p.blocks[position].statements, p.blocks[position].times)
	}
	return atomicfile.Write(file, []byte(b.String()))
}

func (p Profile) positions() []string {
	var all []string
	for position := range p.blocks {
		all = append(all, position)
	}
	slices.Sort(all)
	return all
}
