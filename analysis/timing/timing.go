// Package timing judges timing samples: whether two classes of input take the same time, and the smallest
// difference that the samples could have shown. It reads files that package bench/timing wrote.
//
// A sample is the time of a few operations on one input. Samples come in blocks with one sample of each
// class, in random order. The statistics use the differences B - A within a block, in nanoseconds per
// operation:
//
//   - The order within a block is public and often affects the times more than
//     the class does. The trimmed mean of (second - first) is therefore
//     subtracted from every block. That mean does not change if the labels of a
//     block are exchanged. If the classes are alike, the sign of each difference
//     is thus still a fair coin. The sign test and the Wilcoxon signed-rank test
//     hold exactly under any noise of the machine: tails, drift, correlation.
//   - The effect is the 10 % trimmed mean. The median is reported too. Each has
//     a 95 % interval from a block bootstrap whose block length is taken from
//     the autocorrelation.
//   - A leak in only a few calls moves the tails. The nine deciles of A and of B
//     are compared; the largest standardized difference is the test statistic,
//     and the bootstrap gives the distribution of that maximum. If the step of
//     the clock is coarser than the noise, this test errs towards no leak.
//   - The second pass has to confirm an effect: the same sign, and the same size
//     within a factor of 3, apart from the intervals.
//   - All p-values of a run are corrected together (Holm), at alpha.
//   - The minimum detectable effect is printed with every outcome. It accounts for the
//     noise of the pair, the number of tests and the shift between passes; see [Shift].
//
// The largest |t| over dudect's 102 tests (Reparaz, Balasch, Verbauwhede, 2017) is
// printed for comparison and decides no outcome: it is a maximum over correlated tests,
// has no effect size, and assumes independent samples.
//
// Limitations: an outcome applies to the measured pairs of classes on the machine that
// measured them. It does not prove the absence of leaks.
package timing

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

// familyAlpha is the probability, over all tests of a run, of mistaking noise for a leak.
const familyAlpha = 1e-5

// confidenceLevel is the level of every interval.
const confidenceLevel = 0.95

// The limits in nanoseconds above which a difference counts against a design, by the position of the
// attacker.
const (
	LimitLibrary  = 1      // an attacker on the same machine
	LimitLocal    = 100    // an attacker on the local network
	LimitInternet = 50_000 // an attacker on the internet
)

// A Judgement is the outcome of a run.
type Judgement struct {
	Limit    float64           `json:"limit_ns"`
	Stamp    map[string]string `json:"stamp"`
	Tests    int               `json:"tests"` // p-values corrected together
	Verdicts []*Result         `json:"verdicts"`
	Controls Controls          `json:"controls"`
	Shift    Shift             `json:"shift"`
}

// Judge judges the files of one run against a limit in nanoseconds. It calls progress after each file with
// the number of files done.
func Judge(files []*runfile.Samples, limit float64, progress func(done int)) (*Judgement, error) {
	verdicts, err := pairPasses(measureAll(files, progress))
	if err != nil {
		return nil, err
	}
	j := &Judgement{Limit: limit, Stamp: files[0].Stamp, Verdicts: verdicts}
	j.correct()
	j.decide()
	return j, nil
}

// decide sets the outcomes of pairs and controls from statistics and corrected p-values.
func (j *Judgement) decide() {
	j.Shift = j.shift()
	for _, v := range j.Verdicts {
		v.judge(j)
	}
	j.checkControls()
}

// measureAll measures the files on all processors and keeps their order.
func measureAll(files []*runfile.Samples, progress func(int)) []*Statistics {
	results := make([]*Statistics, len(files))
	next := make(chan int)
	var done int
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = measureFile(files[i])
				mu.Lock()
				done++
				progress(done)
				mu.Unlock()
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

// pairPasses combines the passes of each probe.
func pairPasses(all []*Statistics) ([]*Result, error) {
	var verdicts []*Result
	for _, s := range all {
		i := slices.IndexFunc(verdicts, func(v *Result) bool { return v.Name() == s.Name() })
		switch {
		case i < 0 && s.Pass == 1:
			verdicts = append(verdicts, &Result{Probe: s.Probe, First: s})
		case i >= 0 && s.Pass == 2:
			verdicts[i].Second = s
		case i < 0:
			return nil, fmt.Errorf("%s is pass %d of a probe whose first pass is missing", s.FileName(), s.Pass)
		default:
			return nil, fmt.Errorf("%s: want at most 2 passes of a probe, each once", s.FileName())
		}
	}
	return verdicts, nil
}

// correct corrects the p-values of all first passes for multiple testing.
func (j *Judgement) correct() {
	var p []float64
	for _, v := range j.Verdicts {
		p = append(p, v.First.PSign, v.First.PWilcoxon, v.First.Deciles.P)
	}
	j.Tests = len(p)
	p = stats.Holm(p)
	for i, v := range j.Verdicts {
		v.PSign, v.PRank, v.PTail = p[3*i], p[3*i+1], p[3*i+2]
	}
}
