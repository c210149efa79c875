package proof_test

import (
	"context"
	"strings"
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
	p := proof.Proof{
		Bugs: bugs, Engines: []proof.Engine{scripted{map[string]int64{"easy": 10}, &now}}, Seeds: 3, Limit: time.Minute,
		Folder: func() (string, func(), error) { return t.TempDir(), func() {}, nil },
		Now:    func() time.Time { return now }, Log: func(proof.Trial) {},
	}
	trials, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, trials, 6)
	require.Equal(t, proof.Trial{Bug: "easy", Target: "text", Engine: "scripted", Seed: 2, Found: true, Executions: 20, Seconds: 20}, trials[1])
	require.False(t, trials[3].Found)

	var table strings.Builder
	require.NoError(t, proof.WriteTable(&table, bugs, []string{"scripted", "absent"}, trials))
	require.Contains(t, table.String(), "3 of 3")
	require.Contains(t, table.String(), "0 of 3")
	require.Contains(t, table.String(), "unexercised")
	require.Regexp(t, `easy +text +3 of 3 +20 +20\.0`, table.String())
}

func TestUnknownTarget(t *testing.T) {
	p := proof.Proof{Bugs: []proof.Bug{{Name: "b", Target: "nothing"}}, Engines: []proof.Engine{scripted{}}, Seeds: 1}
	_, err := p.Run(t.Context())
	require.ErrorContains(t, err, `no fuzz target "nothing"`)
}
