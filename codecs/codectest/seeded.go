package codectest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// testSeeded checks that sealing under a given seed is reproducible, that the
// token opens, and that a seed of another length is refused.
func testSeeded(t *testing.T, s subject) {
	c, again := s.codec(t), s.codec(t)
	require.True(t, c.Instance.Seeded(), "the design does not seal under a given seed")
	n := c.SeedSize()
	seed := seedOf(n, 1)
	token, err := c.SealSeeded([]byte("x"), seed, s.sample())
	require.NoError(t, err)
	require.Equal(t, seedOf(n, 1), seed, "the seed was changed")
	twin, err := again.SealSeeded([]byte("x"), seed, s.sample())
	require.NoError(t, err)
	require.Equal(t, string(token), string(twin), "sealing under one seed is not reproducible")
	got, err := c.Unseal(nil, token[1:])
	require.NoError(t, err)
	s.requirePayload(t, s.sample(), got)

	for _, wrong := range []int{n - 1, n + 1} {
		if wrong < 0 {
			continue
		}
		out, err := c.SealSeeded([]byte("x"), make([]byte, wrong), s.sample())
		require.Error(t, err, "a seed of %d bytes where %d are taken", wrong, n)
		require.Equal(t, "x", string(out))
	}
	if n > 0 {
		other, err := c.SealSeeded([]byte("x"), seedOf(n, 2), s.sample())
		require.NoError(t, err)
		require.NotEqual(t, string(token), string(other), "the seed makes no difference")
	}
	testRandomized(t, s, c)
}

// testRandomized checks that equal payloads give unequal tokens if the design
// claims confidentiality.
func testRandomized(t *testing.T, s subject, c codecs.Codec) {
	if !s.holds(codecs.Confidentiality) {
		return
	}
	seen := map[string]bool{}
	for range 100 {
		seen[string(mustSeal(t, c, s.sample()))] = true
	}
	require.Len(t, seen, 100, "equal payloads gave equal tokens")
}

func seedOf(n int, b byte) []byte { return bytes.Repeat([]byte{b}, n) }

// testEdited checks that step by step sealing agrees with sealing, and that an
// edit before authentication is authenticated.
func testEdited(t *testing.T, s subject) {
	c := s.codec(t)
	require.True(t, c.Instance.Edited(), "the design cannot seal step by step")
	seed := seedOf(c.SeedSize(), 7)
	want, err := c.SealSeeded([]byte("x"), seed, s.sample())
	require.NoError(t, err)
	var steps []lab.Step
	got, err := c.SealEdited([]byte("x"), seed, s.sample(), func(step lab.Step, value []byte) []byte {
		steps = append(steps, step)
		return value
	})
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))

	content := lab.StepPayload
	if s.IsScheme() {
		content = lab.StepClaims
	}
	require.Contains(t, steps, content)
	for _, step := range slices.Compact(slices.Sorted(slices.Values(steps))) {
		dropped, err := c.SealEdited(nil, seed, s.sample(), func(at lab.Step, value []byte) []byte {
			if at == step {
				return nil
			}
			return value
		})
		if err != nil {
			require.ErrorIs(t, err, codecs.ErrUnsupported, "without %s", step)
			continue
		}
		if string(dropped) != string(want[1:]) && step != content {
			s.noGain(t, c)(dropped)
		}
	}
}

// testInspect checks that the fields of a token make up the whole token.
func testInspect(t *testing.T, s subject) {
	token := mustSeal(t, s.codec(t), s.sample())
	fields, err := lab.HooksOf(s.Design).Inspect(token)
	require.NoError(t, err)
	var wire []byte
	for _, f := range fields {
		require.NotEmpty(t, f.Name)
		wire = append(wire, f.Wire...)
	}
	require.Equal(t, string(token), string(wire))
	for _, bad := range []string{"", "?", "a.b.c.d", s.Prefix} {
		_, err := lab.HooksOf(s.Design).Inspect([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}
