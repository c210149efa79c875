package sdk

import (
	"fmt"
	"path/filepath"
)

// A Reproducer shows a fault of an SDK or library to its maintainers without
// this module. The fault was confirmed in the source of the library.
type Reproducer struct {
	Subject  string `json:"subject"`  // name of the SDK or of the Go library
	Property string `json:"property"` // the property that the fault refutes
	Shows    string `json:"shows"`    // the fault, with its place in the source
	Line     string `json:"line"`     // shell command, in the library's own language, run in the folder of the group
	Prints   string `json:"prints"`   // the end of its output
	Dir      string `json:"-"`        // the folder of the group
}

// Reproducers returns the contents of every reproducers.json below the folder
// of the SDKs of this module. The error is ErrOutside if here is outside the
// module.
func Reproducers(here string) ([]Reproducer, error) {
	root, err := moduleRoot(here)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(escape(root), folder, "*", "reproducers.json"))
	if err != nil {
		return nil, err
	}
	var all []Reproducer
	for _, path := range paths {
		group, err := readReproducers(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, group...)
	}
	return all, nil
}

func readReproducers(path string) ([]Reproducer, error) {
	var group []Reproducer
	if err := decode(path, &group); err != nil {
		return nil, err
	}
	for i, r := range group {
		if r.Subject == "" || r.Property == "" || r.Shows == "" || r.Line == "" || r.Prints == "" {
			return nil, fmt.Errorf("[%d]: want subject, property, shows, line and prints", i)
		}
		group[i].Dir = filepath.Dir(path)
	}
	return group, nil
}
