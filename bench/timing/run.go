package timing

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"sealab/internal/runfile"
)

// passCount is the number of independent runs of each comparison. A leak must show in both.
const passCount = 2

// A Config states how to measure comparisons and where to write the samples.
type Config struct {
	Dir    string
	Blocks int           // per comparison and pass
	Budget time.Duration // per comparison and pass: slow subjects get fewer blocks
	Seed   uint64
	// Stamp goes into every file. A run can be resumed only with an equal stamp.
	Stamp map[string]string

	precision precision // fullPrecision if it is zero
}

// A Step reports the end of one comparison in one pass.
type Step struct {
	runfile.Header
	Done, Of int // steps of the run
	// Skipped is the reason why the comparison was not measured: its samples exist, or it does not apply.
	Skipped string
}

// Run measures the comparisons in every pass and writes one file of samples for each. It calls progress
// after each. It keeps existing files, so that a stopped run can be resumed.
func Run(comparisons []Comparison, c Config, progress func(Step)) error {
	if len(comparisons) == 0 {
		return errors.New("there is nothing to measure")
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	if err := removeHalves(c.Dir); err != nil {
		return err
	}
	if c.precision == (precision{}) {
		c.precision = fullPrecision
	}
	r := runner{c, newSampler(c.Seed, c.precision), 0, passCount * len(comparisons), progress}
	for pass := 1; pass <= passCount; pass++ {
		// The order is random, so that controls and designs meet the machine in the same states.
		order := rand.New(rand.NewPCG(c.Seed, uint64(pass))).Perm(len(comparisons))
		for _, i := range order {
			t := comparisons[i]
			if err := r.step(t, pass); err != nil {
				return fmt.Errorf("%s, pass %d: %w", t.Name(), pass, err)
			}
		}
	}
	return nil
}

// removeHalves removes the incomplete sample files of a killed run.
func removeHalves(dir string) error {
	halves, err := filepath.Glob(filepath.Join(dir, ".*"+runfile.SamplesExtension+".*"))
	if err != nil {
		return err
	}
	for _, half := range halves {
		if err := os.Remove(half); err != nil {
			return err
		}
	}
	return nil
}

type runner struct {
	Config
	sampler  *sampler
	done, of int
	progress func(Step)
}

// step measures one comparison, unless its samples exist.
func (r *runner) step(t Comparison, pass int) error {
	h := runfile.Header{Probe: t.Probe, Pass: pass}
	skipped, err := r.measuredBefore(h)
	if err == nil && skipped == "" {
		skipped, err = r.measure(t, pass)
	}
	if err != nil {
		return err
	}
	r.done++
	r.progress(Step{Header: h, Done: r.done, Of: r.of, Skipped: skipped})
	return nil
}

// measuredBefore returns a reason if the samples exist already, otherwise "". Samples of another run are
// an error.
func (r *runner) measuredBefore(h runfile.Header) (string, error) {
	path := filepath.Join(r.Dir, h.FileName())
	f, err := runfile.ReadSamples(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !maps.Equal(f.Stamp, r.Stamp):
		return "", fmt.Errorf("%s is of a run with other settings: %v, want %v; choose another folder", path, f.Stamp, r.Stamp)
	}
	return "measured before", nil
}

// measure measures one comparison and writes its file. It returns a reason if the comparison does not
// apply.
func (r *runner) measure(t Comparison, pass int) (skipped string, err error) {
	if t.Channel == "process" {
		defer quietProcess()()
	}
	f, err := r.sampler.measure(t, r.Blocks, r.Budget)
	if err == nil && t.check != nil {
		err = t.check()
	}
	if isNotApplicable(err) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	f.Pass, f.Seed, f.Stamp = pass, r.Seed, r.Stamp
	return "", runfile.WriteSamples(r.Dir, f)
}
