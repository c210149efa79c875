// Package bench measures the time and allocations of every design's operations. It measures baselines and
// the libraries of package golibs in the same run, with the same payloads.
//
// A cell is one operation of one subject at one payload size. Every cell runs once per round, for a number
// of operations that is fixed before the first round. Cells that reports compare form a group. A round
// measures the groups in a new random order. The cells of a group run in short parts and take turns, so
// that a slow period of the machine affects them alike, and two of them can be compared round by round. The
// median part of a cell counts, so that an interrupt in one part has no effect.
//
// The package writes its measurements (see package runfile) and does not judge them. Package
// analysis/throughput computes medians, intervals and thresholds. Below the commands, only this package
// and its subfolders read a clock.
//
// Limitations: the package does not measure contention between goroutines, cold caches or the first token
// of a key. Every cell is warm and runs alone.
package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sealab/internal/runfile"
)

// A Config selects the cells of a run and their duration. A zero field means its default.
type Config struct {
	Subjects []string      // names of subjects; empty: all
	Ops      []runfile.Op  // empty: all
	Sizes    []int         // payload bytes; empty: Sizes
	Rounds   int           // 0: Rounds
	Cell     time.Duration // time of one cell in one round; 0: CellTime
	Seed     uint64        // of the order within the rounds
	// Progress, if not nil, is called when cells of a stage, "preparing" or "measuring", are done.
	Progress func(stage string, done, total int)
}

// The defaults of a Config.
const (
	Rounds   = 12
	CellTime = 8 * time.Millisecond
)

// Sizes returns the default payload sizes.
func Sizes() []int { return []int{64, 1 << 10, 8 << 10, 64 << 10} }

// unreportedDivisor divides the duration of a cell that no report compares.
const unreportedDivisor = 4

// withDefaults returns c with every zero field filled in.
func (c Config) withDefaults() (Config, error) {
	if len(c.Ops) == 0 {
		c.Ops = runfile.Ops()
	}
	if len(c.Sizes) == 0 {
		c.Sizes = Sizes()
	}
	if c.Rounds == 0 {
		c.Rounds = Rounds
	}
	if c.Cell == 0 {
		c.Cell = CellTime
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int) {}
	}
	if c.Rounds < 1 || c.Cell < 0 {
		return c, errors.New("a run takes at least one round, and cells of a positive time")
	}
	for _, n := range c.Sizes {
		if _, err := Payload(n); err != nil {
			return c, err
		}
	}
	return c, nil
}

// cellTime returns how long the cell of a place should run.
func (c Config) cellTime(p cellPlace) time.Duration {
	if p.compared() {
		return c.Cell
	}
	return c.Cell / unreportedDivisor
}

// The limits of Payload, in bytes.
const (
	MinPayload = 64
	MaxPayload = 16 << 20
)

// Payload returns a request state of exactly n bytes, the same at every call. It is the JSON that a server
// of the Model Context Protocol keeps between two rounds of a tool call (revision 2026-07-28,
// basic/patterns/mrtr). It contains the step, the user's answers so far, and a cursor of random letters
// that pads it to the size.
func Payload(n int) ([]byte, error) {
	if n < MinPayload || n > MaxPayload {
		return nil, fmt.Errorf("no payload of %d bytes; sizes go from %d to %d", n, MinPayload, MaxPayload)
	}
	const tail = `},"cursor":"`
	const end = `"}`
	random := rand.New(rand.NewPCG(uint64(n), 0x5ea1ab))
	state := append(make([]byte, 0, n), `{"tool":"deploy_release","step":3,"answers":{`...)
	for i := 0; ; i++ {
		next := userAnswer(i, random)
		if len(state)+len(next)+len(tail)+len(end) > n {
			break
		}
		state = append(state, next...)
	}
	state = append(state, tail...)
	for len(state)+len(end) < n {
		state = append(state, base62Letters[random.IntN(len(base62Letters))])
	}
	return append(state, end...), nil
}

const base62Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// userAnswer returns the i-th of the user's answers, as a client sends it back.
func userAnswer(i int, random *rand.Rand) string {
	questions := []string{"confirm_rollout", "pick_environment", "release_notes", "notify_channel"}
	actions := []string{"accept", "accept", "accept", "decline"}
	comma := ","
	if i == 0 {
		comma = ""
	}
	return fmt.Sprintf(`%s"%s_%d":{"action":"%s","content":{"environment":"eu-west-%d","approver":"user-%04d","approved":%t,"comment":"Canary at %d %%, no errors seen — go on."}}`,
		comma, questions[i%len(questions)], i, actions[random.IntN(len(actions))],
		1+random.IntN(3), random.IntN(10000), random.IntN(2) == 0, random.IntN(100))
}
