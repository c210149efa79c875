package timing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
)

// judgementFile is the name of a judgement in the folder of its samples.
const judgementFile = "judgement.json"

// Write writes the judgement into the run's folder. It replaces an older one, because a judgement
// follows from the samples. The file is short enough to be committed. It has a line per pair and
// numbers of six digits. It stores values that files of a run or passes of a pair share only once.
func (j *Judgement) Write(dir string) error {
	short := *j
	short.Verdicts = nil
	for _, p := range []*float64{&short.Shift.Sigma, &short.Shift.Floor, &short.Shift.Detectable} {
		*p = roundNumber(*p)
	}
	for _, v := range j.Verdicts {
		short.Verdicts = append(short.Verdicts, v.rounded())
	}
	text, err := json.Marshal(short)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(`{"subject":`), []byte("\n"+`{"subject":`)) // quotes within texts are escaped
	return atomicfile.Write(filepath.Join(dir, judgementFile), append(text, '\n'))
}

// Read returns the judgement in a run's folder.
func Read(dir string) (*Judgement, error) {
	path := filepath.Join(dir, judgementFile)
	text, err := atomicfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%w: run sealab leak judge first", err)
	}
	j := new(Judgement)
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("%s: want a judgement: %w", path, err)
	}
	for _, v := range j.Verdicts {
		if v.First == nil || len(v.First.Deciles.Difference) != len(decileShares) {
			return nil, fmt.Errorf("%s: %s: want the statistics of a first pass with %d deciles", path, v.Name(), len(decileShares))
		}
		for _, s := range []*Statistics{v.First, v.Second} {
			if s != nil {
				s.Probe, s.Stamp = v.Probe, j.Stamp
			}
		}
	}
	return j, nil
}

// significantDigits is the number of significant digits of numbers in a file.
const significantDigits = 6

// roundNumber returns v with significantDigits digits.
func roundNumber(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', significantDigits, 64), 64) // it is a number, or NaN
	return short
}

// rounded returns a copy with numbers of six digits. It omits the parts of the headers that v or the
// judgement contains.
func (v *Result) rounded() *Result {
	short := *v
	for _, p := range []*float64{&short.Added, &short.Limit, &short.Detectable, &short.PSign, &short.PRank, &short.PTail} {
		*p = roundNumber(*p)
	}
	short.First = v.First.rounded()
	if v.Second != nil {
		short.Second = v.Second.rounded()
	}
	return &short
}

func (s *Statistics) rounded() *Statistics {
	short := *s
	short.Probe, short.Stamp = runfile.Probe{}, nil
	short.Deciles.Difference = slices.Clone(s.Deciles.Difference)
	for _, p := range []*float64{
		&short.ClockNs, &short.Typical, &short.Slot, &short.Deciles.P, &short.Sigma, &short.Effective,
		&short.PSign, &short.PWilcoxon, &short.DudectT,
	} {
		*p = roundNumber(*p)
	}
	short.Median.round()
	short.Trimmed.round()
	for k := range short.Deciles.Difference {
		short.Deciles.Difference[k].round()
	}
	return &short
}

func (e *Estimate) round() {
	e.Value, e.Low, e.High = roundNumber(e.Value), roundNumber(e.Low), roundNumber(e.High)
}

// Estimates is a list of estimates. Its JSON form is an array of [value, low, high].
type Estimates []Estimate

// MarshalJSON implements [json.Marshaler].
func (all Estimates) MarshalJSON() ([]byte, error) {
	arrays := make([][3]float64, len(all))
	for k, e := range all {
		arrays[k] = [3]float64{e.Value, e.Low, e.High}
	}
	return json.Marshal(arrays)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (all *Estimates) UnmarshalJSON(text []byte) error {
	var arrays [][]float64
	if err := json.Unmarshal(text, &arrays); err != nil {
		return err
	}
	*all = make(Estimates, len(arrays))
	for k, e := range arrays {
		if len(e) != 3 {
			return fmt.Errorf("estimate of %d numbers, want its value, low and high end", len(e))
		}
		(*all)[k] = Estimate{e[0], e[1], e[2]}
	}
	return nil
}
