// Command judge runs committed vectors against the designs with one check
// disabled at a time. For each check it prints the test that noticed. It works
// only in a build that package mutate made.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/mutant"
	"sealab/vectors"
	"sealab/vectors/cases"
	"sealab/vectors/mutate"
	"sealab/vectors/replay"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// run judges the checks from args[1] on with the vectors in folder args[0].
func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("judge: want three arguments: folder of vectors, first check, number of checks")
	}
	first, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	benches, err := set(args[0])
	if err != nil {
		return err
	}
	fmt.Println(mutate.Ready)
	for n := first; n < count; n++ {
		fmt.Println(strings.Join(strings.Fields(noticed(benches, n)), " "))
	}
	return nil
}

// bench is a design with one of its vectors, or with its rings, and the checks that refuse it.
type bench struct {
	design  codecs.Design
	reading string        // of the format; "" if strict
	file    *vectors.File // holds one test, or only rings
	refused map[int]bool
}

// set reads the vectors and runs each once with every check enabled.
func set(dir string) ([]bench, error) {
	paths, err := vectors.Paths(dir)
	if err != nil {
		return nil, err
	}
	var benches []bench
	for _, path := range paths {
		f, err := vectors.Read(path)
		if err != nil {
			return nil, err
		}
		d, err := catalog.Find(f.Design)
		if err != nil {
			return nil, err
		}
		for _, reading := range append([]string{""}, cases.Readings(&d)...) {
			as := lab.With(d, map[string]string{cases.OptionReading: reading})
			for _, one := range single(f) {
				b := bench{design: as, reading: reading, file: one}
				var id string
				b.refused = mutant.Refused(func() { id = b.play() })
				if id != "" {
					return nil, fmt.Errorf("all checks enabled: %s %s", reading, id)
				}
				benches = append(benches, b)
			}
		}
	}
	return benches, nil
}

// single splits f into one file per test and one file of its rings.
func single(f *vectors.File) []*vectors.File {
	rings := *f
	rings.Tests = nil
	files := []*vectors.File{&rings}
	for _, t := range f.Tests {
		one := *f
		one.Tests, one.Rings = []vectors.Test{t}, nil
		files = append(files, &one)
	}
	return files
}

// play returns the id of the first wrong answer, or "" if all answers are
// right.
func (b *bench) play() (id string) {
	defer func() {
		if cause := recover(); cause != nil {
			id = fmt.Sprint("death: ", cause)
		}
	}()
	r := replay.Run(b.file, b.design, replay.Demand{Exact: true, As: b.reading})
	if len(r.Rings) > 0 {
		return r.Rings[0]
	}
	for _, f := range r.Findings {
		if f.Outcome != replay.Agreed && f.Outcome != replay.NotTested {
			return f.Test.ID + ": " + f.Detail
		}
	}
	if r.Died != nil {
		return r.Died.Error()
	}
	return ""
}

// noticed returns the wrong answer if check n is disabled. It returns "" if all
// answers stay right, and mutate.Idle if the check refuses no vector.
func noticed(benches []bench, n int) string {
	mutant.Disable(n)
	defer mutant.Disable(mutant.None)
	idle := true
	for _, b := range benches {
		if !b.refused[n] {
			continue // the check changes no answer
		}
		idle = false
		if id := b.play(); id != "" {
			return id
		}
	}
	if idle {
		return mutate.Idle
	}
	return ""
}
