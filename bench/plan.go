package bench

import (
	"context"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/runfile"
)

// A place is what one cell is to measure.
type place struct {
	Subject
	op   runfile.Op
	size int // payload bytes
}

// String returns the name of the place's measurements.
func (p place) String() string { return runfile.Name(p.Name, p.op, p.size) }

// compared reports whether the place's times are held against others: those of
// schemes and refusals are not.
func (p place) compared() bool { return p.Role != runfile.RoleScheme && !p.op.Refuses() }

// places returns every combination of the subjects, operations and sizes.
func (c Config) places(subjects []Subject) []place {
	all := make([]place, 0, len(subjects)*len(c.Ops)*len(c.Sizes))
	for _, s := range subjects {
		for _, op := range c.Ops {
			for _, size := range c.Sizes {
				all = append(all, place{s, op, size})
			}
		}
	}
	return all
}

// planned is a cell in its place, of a fixed length.
type planned struct {
	place
	Cell
	n      int // operations in a round
	allocs Allocations
}

// plan sets up every cell that the subjects have, decides how many operations
// each runs in a round, and counts its allocations.
func plan(ctx context.Context, subjects []Subject, c Config) ([]planned, error) {
	places := c.places(subjects)
	cells := make([]planned, 0, len(places))
	for i, at := range places {
		c.Progress("preparing", i, len(places))
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sealab: the run was stopped before its first round: %w", err)
		}
		cell, err := at.prepare(c)
		if errors.Is(err, codecs.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sealab: %s: %w", at, err)
		}
		cells = append(cells, cell)
	}
	if len(cells) == 0 {
		return nil, errors.New("sealab: no subject has any of these operations")
	}
	c.Progress("preparing", len(places), len(places))
	return cells, nil
}

// prepare sets up the cell of one place.
func (p place) prepare(c Config) (planned, error) {
	payload, err := Payload(p.size)
	if err != nil {
		return planned{}, err
	}
	cell, err := p.Prepare(p.op, payload)
	if err != nil {
		return planned{}, err
	}
	n, err := calibrate(cell.Run, c.cellTime(p))
	if err != nil {
		return planned{}, err
	}
	allocs, err := count(cell, n)
	return planned{p, cell, n, allocs}, err
}
