package campaign

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// A packageShare is how much of a package ran.
type packageShare struct {
	name     string
	ran, all int // statements
}

// shares returns how much of each package ran, in the order of their names.
func (p Profile) shares() []packageShare {
	var all []packageShare
	index := map[string]int{}
	for position, b := range p.blocks {
		file, _, _ := strings.Cut(position, ":")
		name := path.Dir(file)
		i, ok := index[name]
		if !ok {
			i = len(all)
			index[name] = i
			all = append(all, packageShare{name: name})
		}
		s := &all[i]
		s.all += b.statements
		if b.times > 0 {
			s.ran += b.statements
		}
	}
	slices.SortFunc(all, func(a, b packageShare) int { return strings.Compare(a.name, b.name) })
	return all
}

// WriteTable writes the share of statements that ran, by package.
func (p Profile) WriteTable(w io.Writer) error {
	shares := p.shares()
	if len(shares) == 0 {
		return errors.New("sealab: the profile has no packages: want statements to cover")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var idle []string
	for _, s := range shares {
		if s.ran == 0 {
			idle = append(idle, s.name)
			continue
		}
		fmt.Fprintf(table, "%s\t%.1f %%\t%d of %d statements\n", s.name, 100*float64(s.ran)/float64(s.all), s.ran, s.all)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	if len(idle) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "skipped: %s\n", strings.Join(idle, ", "))
	return err
}
