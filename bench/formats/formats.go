// Package formats compares token formats: which foreign encodings of a token each accepts, how many kinds
// of refusals it distinguishes, the length of its tokens, and the time to mint and open them.
//
// Every format mints the same payloads under one key. The process that runs the library measures
// the times. Each round visits every format once, so that a busy machine slows all of them. A worker that
// cannot time itself has no times.
package formats

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// A Row is the result for one format.
type Row struct {
	Name    string      `json:"name"`
	Kind    codecs.Kind `json:"kind"`
	Spec    string      `json:"spec"`
	Live    bool        `json:"live"` // a library in another process
	Foreign []Foreign   `json:"foreign"`
	Errors  []string    `json:"errors"` // kinds of refusals: stage and reason
	Sizes   []Size      `json:"sizes"`
	Mint    *Interval   `json:"mint,omitempty"`
	Open    *Interval   `json:"open,omitempty"`
	// Stood and Fell are the claimed guarantees that attacks did not refute, and those that they did. Both
	// are nil if no run of attacks includes the format.
	Stood []string `json:"stood,omitempty"`
	Fell  []string `json:"fell,omitempty"`
	Note  string   `json:"note,omitempty"`
}

// A Foreign is the result for one kind of foreign encoding.
type Foreign struct {
	Kind     string `json:"kind"`
	Tried    int    `json:"tried"`
	Accepted int    `json:"accepted"`
}

// A Size is the length of a token in bytes, or -1 if the format cannot carry the payload.
type Size struct {
	Payload int `json:"payload"`
	Token   int `json:"token"`
}

// An Interval is the median time in nanoseconds with its 95 % interval.
type Interval struct {
	Median float64 `json:"median_ns"`
	Low    float64 `json:"low_ns"`
	High   float64 `json:"high_ns"`
	Rounds int     `json:"rounds"`
}

// Lengths are the payload lengths in bytes for which tokens are measured.
var Lengths = []int{0, 64, 1 << 10, 64 << 10}

// timed is the length in bytes of the payload for the times.
const timed = 1 << 10

// A Subject is a format to compare.
type Subject struct {
	codecs.Design
	Live bool
}

// key is ASCII, for libraries whose keys are text.
var key = []byte("a key of 32 letters for tests 01")

// A contestant is an opened subject.
type contestant struct {
	row        Row
	in         *lab.Instance
	at         *codecs.Context
	payload    []byte
	token      []byte
	mint, open []float64
}

// Compare compares subjects. Each is timed rounds times. progress is called before each subject.
func Compare(subjects []Subject, rounds int, progress func(name string, n, of int)) []Row {
	var all []*contestant
	for i, s := range subjects {
		progress(s.Name, i, len(subjects))
		c := &contestant{row: Row{Name: s.Name, Kind: s.Kind(), Spec: s.Spec, Live: s.Live}}
		if err := c.prepare(s); err != nil {
			c.row.Note = err.Error()
		}
		all = append(all, c)
	}
	for range rounds {
		for _, c := range all {
			c.time()
		}
	}
	rows := make([]Row, 0, len(all))
	for _, c := range all {
		c.row.Mint, c.row.Open = interval(c.mint), interval(c.open)
		rows = append(rows, c.row)
		if c.in != nil {
			c.in.Close()
		}
	}
	return rows
}

// prepare opens a subject and measures everything except times.
func (c *contestant) prepare(s Subject) error {
	config := codecs.Config{Secrets: [][]byte{key}}
	if s.KeySize > 0 && s.KeySize != len(key) {
		config.Secrets = [][]byte{[]byte(strings.Repeat("k", s.KeySize))}
	}
	in, err := lab.Open(s.Design, config)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	c.in = in
	c.at = &codecs.Context{Now: time.Unix(1_795_132_800, 0), Method: "tools/call", Target: "deploy", Principal: new("alice"), Audience: new("server")}
	if err := c.judge(); err != nil {
		c.row.Foreign = nil
		return err
	}
	c.payload = payload(timed)
	if c.token, err = in.Seal(nil, c.payload, c.at); err != nil {
		return fmt.Errorf("minting %d bytes: %w", timed, err)
	}
	for _, n := range Lengths {
		size, err := c.size(n)
		if err != nil {
			c.row.Sizes = append(c.row.Sizes, Size{n, -1})
			return err // a library that fails at one length keeps its measurements at others
		}
		c.row.Sizes = append(c.row.Sizes, Size{n, size})
	}
	return nil
}

// payload returns JSON text of n bytes, at least 2, which every format can carry.
func payload(n int) []byte { return []byte(`"` + strings.Repeat("x", max(n-2, 0)) + `"`) }

// size returns the length of the token of an n-byte payload. For n = 0, a scheme gets JSON of 2 bytes.
func (c *contestant) size(n int) (int, error) {
	p := payload(n)
	if n == 0 && c.row.Kind == codecs.KindCodec {
		p = nil
	}
	token, err := c.in.Seal(nil, p, c.at)
	switch {
	case errors.Is(err, codecs.ErrFault):
		return 0, err
	case err != nil:
		return -1, nil
	}
	return len(token), nil
}

// batch is the minimum duration of a timed batch of operations.
const batch = 500 * time.Microsecond

// time measures minting and opening once each.
func (c *contestant) time() {
	if c.token == nil {
		return
	}
	if b, ok := c.in.Opened().(worker.Benchmark); ok {
		const n = 200
		mint, err1 := b.BenchMake(n, c.payload, c.at)
		open, err2 := b.BenchJudge(n, c.token, c.at)
		if err1 == nil && err2 == nil {
			c.mint, c.open = append(c.mint, float64(mint)/n), append(c.open, float64(open)/n)
		}
		return
	}
	if c.row.Live {
		return // a time through a pipe includes more than the library
	}
	var room []byte
	c.mint = append(c.mint, once(func() { room, _ = c.in.Seal(room[:0], c.payload, c.at) }))
	c.open = append(c.open, once(func() { room, _ = c.in.Unseal(room[:0], c.token, c.at) }))
}

// once returns the nanoseconds per operation, measured over a batch.
func once(do func()) float64 {
	n, began := 0, time.Now()
	for n == 0 || time.Since(began) < batch {
		do()
		n++
	}
	return float64(time.Since(began)) / float64(n)
}

// MinRounds is the smallest number of rounds that gives a 95 % interval of a median.
const MinRounds = 6

func interval(times []float64) *Interval {
	if len(times) < MinRounds {
		return nil
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(times), &benchmath.DefaultThresholds), 0.95)
	return &Interval{s.Center, s.Lo, s.Hi, len(times)}
}

//go:embed survey.json
var surveyFile []byte

// A Surveyed row holds the kinds of foreign encodings that a library accepted in the survey, and the
// reason for each known difference.
type Surveyed struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Accepts []string          `json:"accepts"`
	Why     map[string]string `json:"why,omitempty"` // by kind
}

// Survey returns the rows of the survey.
func Survey() ([]Surveyed, error) {
	var file struct {
		Source string     `json:"source"`
		Rows   []Surveyed `json:"rows"`
	}
	if err := json.Unmarshal(surveyFile, &file); err != nil {
		return nil, fmt.Errorf("survey.json: %w", err)
	}
	return file.Rows, nil
}

// differs returns the kinds in which a measured row and the survey differ. It ignores kinds for which no
// text could be made.
func (s *Surveyed) differs(r *Row) []string {
	var kinds []string
	for _, f := range r.Foreign {
		if f.Tried > 0 && (f.Accepted > 0) != slices.Contains(s.Accepts, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// reason explains the differences of a row: by another version, or by the reasons in the survey. It
// reports whether every difference is explained.
func (s *Surveyed) reason(r *Row) (text string, explained bool) {
	differs := s.differs(r)
	if len(differs) == 0 {
		return "as in the survey", true
	}
	explained = true
	var reasons []string
	for _, kind := range differs {
		why := s.Why[kind]
		switch {
		case why == "" && !strings.Contains(r.Spec, s.Version):
			why = fmt.Sprintf("the survey had version %s", s.Version)
		case why == "":
			why, explained = "not explained", false
		}
		if line := kind + ": " + why; !slices.Contains(reasons, line) {
			reasons = append(reasons, line)
		}
	}
	return strings.Join(reasons, "; "), explained
}

// Encodings returns a page that compares the foreign encodings that the live rows accept with the survey.
// It also returns the number of rows in the survey and the names of rows with an unexplained difference.
func Encodings(rows []Row) (page string, surveyed int, unexplained []string, err error) {
	survey, err := Survey()
	if err != nil {
		return "", 0, nil, err
	}
	var b strings.Builder
	b.WriteString("# Foreign encodings that token libraries accept\n\n")
	b.WriteString("Each cell has the texts accepted and tried, of three tokens. They open to the payload of the token.\n\n")
	fmt.Fprintf(&b, "| library | version | %s | survey |\n|---|---|%s---|\n", strings.Join(Kinds(), " | "), strings.Repeat("---|", len(kinds)))
	for _, r := range rows {
		if !r.Live || len(r.Foreign) == 0 {
			continue
		}
		words := strings.Fields(r.Spec)
		fmt.Fprintf(&b, "| `%s` | %s |", r.Name, words[len(words)-1])
		for _, f := range r.Foreign {
			fmt.Fprintf(&b, " %d/%d |", f.Accepted, f.Tried)
		}
		why := "-"
		if i := slices.IndexFunc(survey, func(s Surveyed) bool { return s.Name == r.Name }); i >= 0 {
			surveyed++
			var explained bool
			if why, explained = survey[i].reason(&r); !explained {
				unexplained = append(unexplained, r.Name)
			}
		}
		fmt.Fprintf(&b, " %s |\n", why)
	}
	return b.String(), surveyed, unexplained, nil
}
