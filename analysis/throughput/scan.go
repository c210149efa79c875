package throughput

import (
	"fmt"
	"os"

	"golang.org/x/perf/benchfmt"
)

// scan calls each for every result of a file. A line that is no benchmark line,
// and a file that has none, are errors. It returns what the file says of its units.
func scan(path string, each func(*benchfmt.Result) error) (benchfmt.UnitMetadataMap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	defer f.Close()
	found := false
	r := benchfmt.NewReader(f, path)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, fmt.Errorf("sealab: %s:%d: %s; want a line of the Go benchmark format", path, rec.Line, rec.Msg)
		case *benchfmt.Result:
			found = true
			if err := each(rec); err != nil {
				_, line := rec.Pos()
				return nil, fmt.Errorf("sealab: %s:%d: %w", path, line, err)
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", path, err)
	}
	if !found {
		return nil, fmt.Errorf("sealab: %s: want lines of the Go benchmark format, there is none", path)
	}
	return r.Units(), nil
}
