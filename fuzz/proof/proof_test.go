package proof_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/proof"
)

// scripted is an engine that finds a bug after some executions, a second each.
type scripted struct {
	after map[string]int64 // 0: never
	now   *time.Time
}

func (scripted) Name() string                  { return "scripted" }
func (scripted) Prepare(context.Context) error { return nil }

func (s scripted) Begin(_ context.Context, h proof.Hunt) (proof.Chase, error) {
	return func(_ context.Context, found func()) (int64, error) {
		n := s.after[h.Bug]
		*s.now = s.now.Add(time.Duration(n*int64(h.Seed)) * time.Second)
		if n > 0 {
			found()
		}
		*s.now = s.now.Add(time.Hour) // cleaning up is no part of the time
		return n * int64(h.Seed), nil
	}, nil
}

func TestProof(t *testing.T) {
	now := time.Unix(0, 0)
	bugs := []proof.Bug{{Name: "easy", Target: "text"}, {Name: "impossible", Target: "json"}}
	results := proof.Results{Dir: t.TempDir(), Heading: "about", Bugs: bugs, Engines: []string{"scripted", "absent"}}
	p := proof.Proof{
		Bugs: bugs, Entrants: []proof.Entrant{{Engine: scripted{map[string]int64{"easy": 10}, &now}, Limit: time.Minute}},
		Seeds: 3, AtOnce: 1,
		Folder: func() (string, func(), error) { return t.TempDir(), func() {}, nil },
		Now:    func() time.Time { return now }, Record: results.Add,
	}
	require.NoError(t, p.Run(t.Context()))
	require.Len(t, results.Trials, 6)
	require.Equal(t, proof.Trial{Bug: "easy", Target: "text", Engine: "scripted", Seed: 2, Found: true, Executions: 20, Seconds: 20,
		Limit: 60, AtOnce: 1}, results.Trials[2])
	require.False(t, results.Trials[3].Found)

	table, err := os.ReadFile(filepath.Join(results.Dir, "table.txt"))
	require.NoError(t, err)
	require.Contains(t, string(table), "0 of 3")
	require.Contains(t, string(table), "skipped")
	require.Regexp(t, `^about\n(?s:.*)easy +text +3 of 3 +20 +20\.0`, string(table))
}

// TestResume goes on where an earlier proof was stopped, under the same
// conditions only.
func TestResume(t *testing.T) {
	now := time.Unix(0, 0)
	dir := t.TempDir()
	bugs := []proof.Bug{{Name: "easy", Target: "text"}}
	folder := func() (string, func(), error) { return t.TempDir(), func() {}, nil }
	entrant := proof.Entrant{Engine: scripted{map[string]int64{"easy": 1}, &now}, Limit: time.Minute}
	for round := 1; round <= 2; round++ {
		results := proof.Results{Dir: dir, Bugs: bugs, Engines: []string{"scripted"}}
		require.NoError(t, results.Resume())
		ctx, stop := context.WithCancel(t.Context())
		p := proof.Proof{Bugs: bugs, Entrants: []proof.Entrant{entrant}, Seeds: 4, AtOnce: 1, Done: results.Trials, Folder: folder,
			Now: func() time.Time { return now },
			Record: func(trial proof.Trial) error {
				if err := results.Add(trial); trial.Seed == 2 {
					stop()
					return err
				}
				return nil
			}}
		require.NoError(t, results.RequireAlike(p))
		require.NoError(t, p.Run(ctx))
		require.Len(t, results.Trials, 2*round)
		p.AtOnce = 2
		require.ErrorContains(t, results.RequireAlike(p), "limit of 60 s, 1 at once with 0 workers")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trials.jsonl"), []byte("{}\n"), 0o644))
	require.ErrorContains(t, (&proof.Results{Dir: dir}).Resume(), "trials.jsonl:1: want a trial")
}

func TestUnknownTarget(t *testing.T) {
	p := proof.Proof{Bugs: []proof.Bug{{Name: "b", Target: "nothing"}}, Entrants: []proof.Entrant{{Engine: scripted{}}}, Seeds: 1, AtOnce: 1}
	require.ErrorContains(t, p.Run(t.Context()), `no fuzz target "nothing"`)
}
