package attack_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// open is a codec without any protection: the base64url text of the payload.
type open struct{}

func (open) Seal(dst, payload []byte) ([]byte, error) {
	return append(dst, base64.RawURLEncoding.EncodeToString(payload)...), nil
}

func (open) Unseal(dst, token []byte) ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(string(token))
	if err != nil {
		return dst, codecs.Reject(codecs.Malformed, "text")
	}
	return append(dst, raw...), nil
}

// design returns a design for the unprotected codec, which claims the given properties.
func design(claims ...codecs.Property) *attack.Design {
	return &attack.Design{Design: codecs.Design{
		Name: "open", Guarantees: func(map[string]string) []codecs.Guarantee { return codecs.Holds(claims...) },
		NewCodec: func(codecs.Config) (codecs.Codec, error) { return open{}, nil },
	}}
}

// forge returns an attack that presents a token that was never sealed.
func forge(id string) attack.Attack {
	return attack.Attack{ID: id, Name: "forgery", Refutes: []codecs.Property{codecs.Integrity}, Run: func(t *attack.T) {
		if in, tok, ok := t.Base(); ok {
			t.Change(in, tok, []byte("AAAA"), "another text")
		}
	}}
}

// quiet returns an attack that refutes nothing.
func quiet(id string) attack.Attack {
	return attack.Attack{ID: id, Name: "quiet", Refutes: []codecs.Property{codecs.Integrity}, Run: func(t *attack.T) {
		t.Base() //nolint:errcheck // the calls count
		t.Try(codecs.Integrity)
	}}
}

func tally(t *testing.T, s verdict.Design, p codecs.Property) verdict.Tally {
	t.Helper()
	for _, tally := range s.Tallies() {
		if tally.Property == p {
			return tally
		}
	}
	t.Fatalf("no outcome for %s", p)
	return verdict.Tally{}
}

func TestRunner(t *testing.T) {
	t.Run("refuted", func(t *testing.T) {
		r := attack.Runner{Attacks: []attack.Attack{quiet("A-01"), forge("A-02")}, Seed: 1}
		got := r.Attack(design(codecs.Integrity))
		require.Equal(t, verdict.Refuted, tally(t, got, codecs.Integrity).Outcome)
		require.True(t, got.Results[1].Accuses())
		require.NotEmpty(t, got.Results[1].Reproducer.Calls)
	})
	t.Run("seen again among more tokens", func(t *testing.T) {
		runs := 0
		late := attack.Attack{ID: "A-01", Name: "late the second time", Refutes: []codecs.Property{codecs.FreshNonces}, Run: func(t *attack.T) {
			in, tok, ok := t.Base()
			if runs++; ok && t.Budget.Seals >= 100*runs {
				t.RefuteIf(codecs.FreshNonces, attack.Sealed(1), "a nonce repeats", in.Seal(tok.State, tok.Under))
			}
		}}
		r := attack.Runner{Attacks: []attack.Attack{late}, Seed: 1, Budget: attack.Budget{Seals: 100}}
		require.Equal(t, verdict.Refuted, tally(t, r.Attack(design(codecs.FreshNonces)), codecs.FreshNonces).Outcome)
	})
	t.Run("not refuted", func(t *testing.T) {
		r := attack.Runner{Attacks: []attack.Attack{quiet("A-01")}, Seed: 1}
		got := r.Attack(design(codecs.Integrity))
		require.Equal(t, verdict.NotRefuted, tally(t, got, codecs.Integrity).Outcome)
		require.Empty(t, got.Untested())
	})
}

// TestRunnerEnds ends runs before and within an attack.
func TestRunnerEnds(t *testing.T) {
	t.Run("time over before an attack", func(t *testing.T) {
		over := atomic.Bool{}
		r := attack.Runner{Attacks: []attack.Attack{quiet("A-01"), quiet("A-02"), quiet("A-03")}, Seed: 1}
		r.Budget.Spent = func() error {
			if over.Load() {
				return attack.ErrTimeOver
			}
			return nil
		}
		r.Done = func(id string, _ []verdict.Result, _ int) { over.Store(id == "A-02") }
		got := r.Attack(design(codecs.Integrity))
		sum := tally(t, got, codecs.Integrity)
		require.Equal(t, verdict.NotTested, sum.Outcome)
		require.Equal(t, []int{2, 3}, []int{sum.Done, sum.Of})
		require.Len(t, got.Untested(), 1)
		require.True(t, sum.TimeOver)
		require.Empty(t, func() []verdict.Tally { s := r.Attack(design()); return s.Untested() }(), "a property that is not claimed")
	})
	t.Run("interrupted within an attack", func(t *testing.T) {
		calls := 0
		long := attack.Attack{ID: "A-01", Refutes: []codecs.Property{codecs.Integrity}, Run: func(t *attack.T) {
			in, tok, _ := t.Base()
			for {
				t.Change(in, tok, []byte("!"), "no token")
				calls++
			}
		}}
		r := attack.Runner{Attacks: []attack.Attack{long}, Seed: 1, Budget: attack.Budget{Spent: func() error {
			if calls >= 10 {
				return errors.New("the run was interrupted")
			}
			return nil
		}}}
		got := r.Attack(design(codecs.Integrity))
		require.Equal(t, 10, calls)
		require.True(t, got.Results[0].Incomplete)
		require.False(t, got.Results[0].TimeOver)
		require.Contains(t, got.Results[0].Reason, "the run was interrupted after")
	})
}

// TestRunnerChecksEvidence gives the runner evidence that does not show its claim.
func TestRunnerChecksEvidence(t *testing.T) {
	t.Run("evidence that does not show its claim", func(t *testing.T) {
		wrong := attack.Attack{ID: "A-01", Refutes: []codecs.Property{codecs.Integrity}, Run: func(t *attack.T) {
			in, tok, _ := t.Base()
			t.Try(codecs.Integrity)
			t.Refute(codecs.Integrity, "accepted", in.Unseal([]byte("!"), tok.Under))
		}}
		r := attack.Runner{Attacks: []attack.Attack{wrong}, Seed: 1}
		got := r.Attack(design(codecs.Integrity))
		require.Equal(t, verdict.NotTested, got.Results[0].Outcome)
		require.Contains(t, got.Results[0].Reason, "does not show the claim")
	})
	t.Run("a finding that does not show again", func(t *testing.T) {
		runs := 0
		once := attack.Attack{ID: "A-01", Refutes: []codecs.Property{codecs.Rotation}, Run: func(t *attack.T) {
			t.Try(codecs.Rotation)
			if runs++; runs == 1 {
				t.Refute(codecs.Rotation, "seen")
			}
		}}
		r := attack.Runner{Attacks: []attack.Attack{once}, Seed: 1}
		got := r.Attack(design(codecs.Rotation))
		require.Equal(t, verdict.NotTested, got.Results[0].Outcome)
		require.Contains(t, got.Results[0].Reason, "seen once and not again")
	})
}

// TestOrder checks that the cost of a call is measured first, at the least cost.
func TestOrder(t *testing.T) {
	all := []attack.Attack{{ID: "last", Last: true}, {ID: "long", Hundreds: 2}, {ID: "many calls", Hundreds: 6, First: true}, {ID: "short"}, {ID: "few calls", First: true}}
	attack.Order(all)
	var ids []string
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	require.Equal(t, []string{"few calls", "many calls", "short", "long", "last"}, ids)
}

// TestRunnerOrder attacks claims first, resumes a run, and attacks copies of a design side by side.
func TestRunnerOrder(t *testing.T) {
	t.Run("claims first", func(t *testing.T) {
		other, claimed := quiet("A-01"), quiet("A-02")
		other.Refutes = []codecs.Property{codecs.Rotation}
		var ran []string
		r := attack.Runner{Attacks: []attack.Attack{other, claimed}, Seed: 1, Progress: func(id string, _, _ int) { ran = append(ran, id) }}
		got := r.Attack(design(codecs.Integrity))
		require.Equal(t, []string{"A-02", "A-01"}, ran)
		require.Equal(t, "A-01", got.Results[0].Attack, "outcomes are in the order of the attacks")
	})
	t.Run("resume", func(t *testing.T) {
		ran := map[string]int{}
		count := func(id string) attack.Attack {
			a := quiet(id)
			inner := a.Run
			a.Run = func(t *attack.T) { ran[id]++; inner(t) }
			return a
		}
		last, refuted := count("A-03"), count("A-04")
		last.Last, refuted.Last = true, true
		r := attack.Runner{Attacks: []attack.Attack{count("A-01"), count("A-02"), last, refuted}, Seed: 1}
		r.Resume = func(id string) []verdict.Result {
			kept := verdict.Result{Property: codecs.Integrity, Attack: id, Outcome: verdict.NotRefuted, Claim: verdict.Stated, Trials: 1}
			switch id {
			case "A-02":
				return nil
			case "A-04":
				kept.Outcome = verdict.Refuted
			}
			return []verdict.Result{kept}
		}
		got := r.Attack(design(codecs.Integrity))
		require.Equal(t, map[string]int{"A-02": 1, "A-03": 1}, ran, "the last attacks judge this run too, unless they were refuted before")
		require.Equal(t, 4, tally(t, got, codecs.Integrity).Of)
	})
	t.Run("side by side", func(t *testing.T) {
		var all []attack.Attack
		for i := range 20 {
			all = append(all, quiet(fmt.Sprintf("A-%02d", i)))
		}
		all = append(all, forge("B-01"))
		alone, beside := attack.Runner{Attacks: all, Seed: 1}, attack.Runner{Attacks: all, Seed: 1}
		want, got := alone.Attack(design(codecs.Integrity)), beside.Attack(design(codecs.Integrity), design(codecs.Integrity), design(codecs.Integrity))
		for i := range want.Results {
			require.Equal(t, want.Results[i].Attack, got.Results[i].Attack)
			require.Equal(t, want.Results[i].Outcome, got.Results[i].Outcome)
		}
	})
}

func TestSelect(t *testing.T) {
	all := []attack.Attack{{ID: "A-01"}, {ID: "A-02"}, {ID: "B-01"}}
	for name, c := range map[string]struct {
		only []string
		want int
	}{"all": {nil, 3}, "a family": {[]string{"a"}, 2}, "one": {[]string{"B-01"}, 1}} {
		t.Run(name, func(t *testing.T) {
			got, err := attack.Select(all, c.only)
			require.NoError(t, err)
			require.Len(t, got, c.want)
		})
	}
	_, err := attack.Select(all, []string{"C"})
	require.ErrorContains(t, err, `unknown attack "C"`)
}

func TestEvidence(t *testing.T) {
	done := verdict.Call{Op: verdict.OpUnseal, Answer: verdict.Answer{Outcome: verdict.Done}}
	refused := verdict.Call{Op: verdict.OpUnseal, Answer: verdict.Answer{Outcome: verdict.Refused, Reason: "a"}}
	other := refused
	other.Answer.Reason = "b"
	sealed := verdict.Call{Op: verdict.OpSeal, Answer: verdict.Answer{Outcome: verdict.Done, Out: []byte("t")}}
	require.True(t, attack.Accepted([]verdict.Call{sealed, done}))
	require.False(t, attack.Accepted([]verdict.Call{done, refused}))
	require.True(t, attack.Differ([]verdict.Call{refused, other}))
	require.False(t, attack.Differ([]verdict.Call{refused, refused}))
	require.True(t, attack.Sealed(1)([]verdict.Call{sealed}))
	require.False(t, attack.Sealed(2)([]verdict.Call{sealed, done}))
}

// signedPrincipal is a scheme whose token is the principal and the state. absent is the text for no
// principal: if it is empty, no principal is the same as an empty one.
type signedPrincipal struct{ absent string }

func (s signedPrincipal) name(c *codecs.Context) string {
	if c.Principal == nil {
		return s.absent
	}
	return *c.Principal
}

func (s signedPrincipal) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return fmt.Appendf(dst, "%s.%s", s.name(c), state), nil
}

func (s signedPrincipal) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	state, ok := bytes.CutPrefix(token, []byte(s.name(c)+"."))
	if !ok {
		return dst, codecs.Reject(codecs.Misbound, "principal")
	}
	return append(dst, state...), nil
}

// TestReproduceAfterRepair checks that a finding does not show on a scheme that now seals
// differently, where the recorded token is one for the context that it is presented in.
func TestReproduceAfterRepair(t *testing.T) {
	scheme := func(absent string) *attack.Design {
		return &attack.Design{Design: codecs.Design{
			Name: "principal", Guarantees: func(map[string]string) []codecs.Guarantee { return codecs.Holds(codecs.BindsPrincipal) },
			NewScheme: func(codecs.Config) (codecs.Scheme, error) { return signedPrincipal{absent}, nil },
		}}
	}
	empty := ""
	mixed := attack.Attack{ID: "A-01", Refutes: []codecs.Property{codecs.BindsPrincipal}, Run: func(t *attack.T) {
		in, _ := t.Open(t.Secret(0)) //nolint:errcheck // it never fails
		sealed := in.Seal([]byte("state"), codecs.Context{})
		t.Try(codecs.BindsPrincipal)
		if call, ok := in.Accepts(sealed.Answer.Out, codecs.Context{Principal: &empty}); ok {
			t.Refute(codecs.BindsPrincipal, "absent as empty", sealed, call)
		}
	}}
	r := attack.Runner{Attacks: []attack.Attack{mixed}, Seed: 1}
	got := r.Attack(scheme("")).Results[0]
	require.Equal(t, verdict.Refuted, got.Outcome)
	again := func(absent string) error {
		return attack.Reproduce(scheme(absent), &mixed, codecs.BindsPrincipal, got.Reproducer, attack.Budget{})
	}
	require.NoError(t, again(""))
	require.ErrorIs(t, again("none"), attack.ErrStands)
}
