package bench_test

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"sealab/bench"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

// tiny is a run of all operations that is too short for meaningful times.
var tiny = bench.Config{Sizes: []int{64}, Rounds: 2, Cell: 20 * time.Microsecond, Seed: 1}

// TestEveryDesignIsMeasured checks that every design has all its cells in each round, and that the rounds
// differ in order.
func TestEveryDesignIsMeasured(t *testing.T) {
	testenv.SkipSample(t)
	result, err := bench.Run(context.Background(), bench.Subjects(), tiny)
	require.NoError(t, err)
	times := map[string]int{}
	var order [2][]string
	for i, m := range result.Measurements {
		name := runfile.Name(m.Subject, m.Op, m.Size)
		times[name]++
		order[i*2/len(result.Measurements)] = append(order[i*2/len(result.Measurements)], name)
		require.Positive(t, m.NsPerOp, name)
		require.Positive(t, m.N, name)
		require.True(t, m.Counted, name)
	}
	require.ElementsMatch(t, order[0], order[1], "every round has every cell")
	require.NotEqual(t, order[0], order[1], "every round has an order of its own")
	require.NotEmpty(t, catalog.All())
	for _, d := range catalog.All() {
		for _, op := range runfile.Ops() {
			if op == runfile.UnsealRing && (d.IsScheme() || d.MaxKeys > 0) {
				continue
			}
			require.Equal(t, 2, times[runfile.Name(d.Name, op, 64)], "%s %s", d.Name, op)
		}
	}
	repeats := 0
	for _, s := range result.Subjects {
		if s.Role == runfile.RoleRepeat {
			repeats++
			require.Equal(t, 2, times[runfile.Name(s.Repeats, runfile.Seal, 64)])
		}
	}
	require.Equal(t, 1, repeats)
}

// TestTokensAreWhatTheyClaim checks the stage at which the catalog's codecs refuse each invalid token.
func TestTokensAreWhatTheyClaim(t *testing.T) {
	want := map[runfile.Op]codecs.Stage{
		runfile.RefuseGarbage: codecs.Malformed,
		runfile.RefuseTag:     codecs.Unauthentic,
		runfile.RefuseKey:     codecs.UnknownKey,
	}
	for op, stage := range want {
		var seen *codecs.RejectError
		spy := codecs.Design{Name: "spy", MaxKeys: 1, NewCodec: func(c codecs.Config) (codecs.Codec, error) {
			d := catalog.All()[0]
			inner, err := d.OpenCodec(c)
			return spying{inner, &seen}, err
		}}
		_, err := bench.FromDesign(spy).Prepare(op, payload(t))
		require.NoError(t, err)
		require.NotNil(t, seen, op)
		require.Equal(t, stage, seen.Stage, op)
	}
}

// spying records the last refusal.
type spying struct {
	codecs.Codec
	seen **codecs.RejectError
}

func (s spying) Unseal(dst, token []byte) ([]byte, error) {
	out, err := s.Codec.Unseal(dst, token)
	*s.seen = codecs.Rejected(err)
	return out, err
}

func payload(t *testing.T) []byte {
	t.Helper()
	p, err := bench.Payload(1024)
	require.NoError(t, err)
	return p
}

// TestWrongDesignsStopTheRun checks that a run fails for codecs that do not work, because their times
// would be meaningless.
func TestWrongDesignsStopTheRun(t *testing.T) {
	for name, codec := range map[string]codecs.Codec{
		"forgets the payload": forgetful{},
		"accepts everything":  credulous{},
	} {
		d := codecs.Design{Name: "wrong", NewCodec: func(codecs.Config) (codecs.Codec, error) { return codec, nil }}
		_, err := bench.Run(context.Background(), []bench.Subject{bench.FromDesign(d)}, tiny)
		require.ErrorContains(t, err, "design=wrong", name)
	}
}

type forgetful struct{}

func (forgetful) Seal(dst, _ []byte) ([]byte, error)   { return append(dst, "token"...), nil }
func (forgetful) Unseal(dst, _ []byte) ([]byte, error) { return dst, nil }

type credulous struct{}

func (credulous) Seal(dst, payload []byte) ([]byte, error) { return append(dst, payload...), nil }
func (credulous) Unseal(dst, token []byte) ([]byte, error) { return append(dst, token...), nil }

func TestForeignSubjectsAreTimedByThemselves(t *testing.T) {
	foreign := bench.Subject{
		Subject: runfile.Subject{Name: "far", Role: runfile.RoleSDK},
		Prepare: func(op runfile.Op, payload []byte) (bench.Operation, error) {
			if op != runfile.Seal {
				return bench.Operation{}, codecs.ErrUnsupported
			}
			run := func(n int) (time.Duration, error) { return time.Duration(n) * time.Microsecond, nil }
			return bench.Operation{Run: run, TokenSize: 7}, nil
		},
	}
	result, err := bench.Run(context.Background(), []bench.Subject{foreign}, tiny)
	require.NoError(t, err)
	require.Len(t, result.Measurements, 2)
	require.Equal(t, 1000.0, result.Measurements[0].NsPerOp)
	require.False(t, result.Measurements[0].Counted)
}

// TestInterruptedPartsDoNotCount measures a subject that takes a hundred times as long in every fifth
// call.
func TestInterruptedPartsDoNotCount(t *testing.T) {
	calls := 0
	uneven := bench.Subject{
		Subject: runfile.Subject{Name: "uneven", Role: runfile.RoleSDK},
		Prepare: func(runfile.Op, []byte) (bench.Operation, error) {
			run := func(n int) (time.Duration, error) {
				calls++
				if calls%5 == 0 {
					n *= 100
				}
				return time.Duration(n) * time.Microsecond, nil
			}
			return bench.Operation{Run: run}, nil
		},
	}
	result, err := bench.Run(context.Background(), []bench.Subject{uneven}, tiny)
	require.NoError(t, err)
	for _, m := range result.Measurements {
		require.Equal(t, 1000.0, m.NsPerOp)
	}
}

// TestComparedCellsTakeTurns measures a design and its repetition while the machine becomes slower with
// each call. The times of a round must agree, although the speed halves many times within a run.
func TestComparedCellsTakeTurns(t *testing.T) {
	calls := 0
	slowing := func(name string, role runfile.Role) bench.Subject {
		return bench.Subject{
			Subject: runfile.Subject{Name: name, Role: role, Repeats: "slowing"},
			Prepare: func(runfile.Op, []byte) (bench.Operation, error) {
				run := func(n int) (time.Duration, error) {
					calls++
					return time.Duration(float64(n) * 1e5 * math.Exp2(float64(calls)/100)), nil
				}
				return bench.Operation{Run: run}, nil
			},
		}
	}
	c := tiny
	c.Ops, c.Rounds = []runfile.Op{runfile.Seal}, 20
	result, err := bench.Run(context.Background(), []bench.Subject{slowing("slowing", runfile.RoleDesign), slowing("again", runfile.RoleRepeat)}, c)
	require.NoError(t, err)
	times := map[string][]float64{}
	for _, m := range result.Measurements {
		times[m.Subject] = append(times[m.Subject], m.NsPerOp)
	}
	for i, ns := range times["slowing"] {
		require.InEpsilon(t, ns, times["again"][i], 0.02, "round %d", i+1)
	}
	require.Greater(t, times["slowing"][19], 4*times["slowing"][0])
}

// TestPartsRunAtSeveralDepths checks that the parts of a cell place their variables at different offsets
// in a cache line. The compiler chooses the size of the frames between them.
func TestPartsRunAtSeveralDepths(t *testing.T) {
	const line = 64
	offsets := map[uintptr]bool{}
	placed := bench.Subject{
		Subject: runfile.Subject{Name: "placed", Role: runfile.RoleSDK},
		Prepare: func(runfile.Op, []byte) (bench.Operation, error) {
			run := func(n int) (time.Duration, error) {
				var local byte
				offsets[uintptr(unsafe.Pointer(&local))%line] = true
				return time.Duration(n) * time.Microsecond, nil
			}
			return bench.Operation{Run: run}, nil
		},
	}
	_, err := bench.Run(context.Background(), []bench.Subject{placed}, tiny)
	require.NoError(t, err)
	require.Greater(t, len(offsets), 1) // how many depends on the size of a frame
}

func TestStoppedRunKeepsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := tiny
	c.Subjects = []string{catalog.All()[0].Name}
	c.Progress = func(stage string, done, _ int) {
		if stage == "measuring" && done == 3 {
			cancel()
		}
	}
	_, err := bench.Run(ctx, bench.Subjects(), c)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRunRefuses(t *testing.T) {
	for want, change := range map[string]func(*bench.Config){
		`no subject "nobody"`: func(c *bench.Config) { c.Subjects = []string{"nobody"} },
		"sizes go from":       func(c *bench.Config) { c.Sizes = []int{3} },
		"at least one round":  func(c *bench.Config) { c.Rounds = -1 },
	} {
		c := tiny
		change(&c)
		_, err := bench.Run(context.Background(), bench.Subjects(), c)
		require.ErrorContains(t, err, want)
	}
}

func TestRunRefusesSubjectsTwice(t *testing.T) {
	all := bench.Subjects()
	_, err := bench.Run(context.Background(), append(all, all[0]), tiny)
	require.ErrorContains(t, err, all[0].Name)
}

func TestWrittenRunIsGoBenchmarkFormat(t *testing.T) {
	c := tiny
	c.Subjects = []string{"baseline-memcpy"}
	result, err := bench.Run(context.Background(), bench.Subjects(), c)
	require.NoError(t, err)
	stamp, err := runfile.NewStamp(time.Unix(1_795_132_800, 0), "")
	require.NoError(t, err)
	text, err := result.Format(stamp)
	require.NoError(t, err)
	r := benchfmt.NewReader(bytes.NewReader(text), runfile.BenchFile)
	read := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			read++
			for _, key := range []string{"goos", "cpu", "toolchain", "commit", "dirty", "seed", "modules"} {
				require.NotEmpty(t, rec.GetConfig(key), key)
			}
			for _, unit := range []string{"sec/op", "B/s", "B/op", "allocs/op", "token-B"} {
				_, ok := rec.Value(unit)
				require.True(t, ok, "%s in %v", unit, rec.Values)
			}
		}
	}
	require.NoError(t, r.Err())
	require.Equal(t, len(result.Measurements), read)
}
