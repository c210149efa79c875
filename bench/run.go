package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"sealab/internal/runfile"
)

// A Measurement is one cell in one round.
type Measurement struct {
	Subject string
	Op      runfile.Op
	Size    int // payload bytes
	N       int // operations
	NsPerOp float64
	Allocations
	TokenSize int
}

// A Result is what one run measured, in the order in which it did.
type Result struct {
	Config       Config
	Subjects     []runfile.Subject
	Measurements []Measurement
}

// Run measures the subjects as c says. It stops between two cells when ctx is
// done, and measures nothing when any cell cannot be set up.
func Run(ctx context.Context, all []Subject, c Config) (*Result, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	subjects, err := choose(all, c.Subjects)
	if err != nil {
		return nil, err
	}
	cells, err := plan(ctx, subjects, c)
	if err != nil {
		return nil, err
	}
	result := &Result{Config: c}
	for _, s := range subjects {
		result.Subjects = append(result.Subjects, s.Subject)
	}
	random := rand.New(rand.NewPCG(c.Seed, c.Seed))
	for round := range c.Rounds {
		for done, i := range random.Perm(len(cells)) {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("sealab: the run was stopped in round %d of %d; nothing is kept: %w", round+1, c.Rounds, err)
			}
			c.Progress("measuring", round*len(cells)+done, c.Rounds*len(cells))
			m, err := cells[i].measure()
			if err != nil {
				return nil, err
			}
			result.Measurements = append(result.Measurements, m)
		}
	}
	c.Progress("measuring", c.Rounds*len(cells), c.Rounds*len(cells))
	return result, nil
}
