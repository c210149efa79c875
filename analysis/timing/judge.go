package timing

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"sealab/analysis/stats"
	"sealab/internal/samples"
)

// A Judgement is what a run's samples come to.
type Judgement struct {
	Limit    float64           `json:"limit_ns"`
	Stamp    map[string]string `json:"stamp"`
	Tests    int               `json:"tests"` // p-values corrected together
	Verdicts []*Verdict        `json:"verdicts"`
	Controls Controls          `json:"controls"`
}

// Judge judges the files of one run against a limit in nanoseconds. progress is
// called after each file with the number of files done.
func Judge(files []*samples.File, limit float64, progress func(done int)) (*Judgement, error) {
	verdicts, err := pair(measureAll(files, progress))
	if err != nil {
		return nil, err
	}
	j := &Judgement{Limit: limit, Stamp: files[0].Stamp, Verdicts: verdicts}
	j.correct()
	for _, v := range verdicts {
		v.Limit = limit
		v.judge()
	}
	j.Controls = checkControls(verdicts)
	return j, nil
}

// measureAll measures the files on all processors, keeping their order.
func measureAll(files []*samples.File, progress func(int)) []*Statistics {
	results := make([]*Statistics, len(files))
	next := make(chan int)
	var done int
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = Measure(files[i])
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

// pair puts the passes of each probe together.
func pair(all []*Statistics) ([]*Verdict, error) {
	var verdicts []*Verdict
	for _, s := range all {
		i := slices.IndexFunc(verdicts, func(v *Verdict) bool { return v.Name() == s.Name() })
		switch {
		case i < 0 && s.Pass == 1:
			verdicts = append(verdicts, &Verdict{Probe: s.Probe, First: s})
		case i >= 0 && s.Pass == 2:
			verdicts[i].Second = s
		case i < 0:
			return nil, fmt.Errorf("sealab: %s is pass %d of a probe whose first pass is missing", s.FileName(), s.Pass)
		default:
			return nil, fmt.Errorf("sealab: %s: want at most 2 passes of a probe, each once", s.FileName())
		}
	}
	return verdicts, nil
}

// correct corrects the p-values of all first passes together.
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
