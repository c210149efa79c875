package codectest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A subject is a design under test.
type subject struct{ codecs.Design }

// ttl is the time to live of tokens in the suite.
const ttl = 10 * time.Minute

// noon is the time at which the suite mints tokens.
var noon = time.Unix(1_795_132_800, 0)

// binding returns the context for which the suite mints tokens.
func binding() *codecs.Context {
	principal, audience := "alice", "srv"
	return &codecs.Context{
		Now:    noon,
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"prod"}`),
		Principal: &principal, Audience: &audience,
	}
}

// At returns a copy of c, or of the zero Context if c is nil, with the given
// time.
func At(c *codecs.Context, now time.Time) *codecs.Context {
	var at codecs.Context
	if c != nil {
		at = *c
	}
	at.Now = now
	return &at
}

// secret returns the i-th secret of the suite, in the length that the design
// takes.
func (s subject) secret(i int) []byte {
	n := s.KeySize
	if n == 0 {
		n = codecs.MinSecret + i%3*16
	}
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(i), 's'})
	random.Read(b) //nolint:errcheck // never fails
	return b
}

// ring returns the secrets with the given numbers.
func (s subject) ring(numbers ...int) [][]byte {
	secrets := make([][]byte, 0, len(numbers))
	for _, i := range numbers {
		secrets = append(secrets, s.secret(i))
	}
	return secrets
}

// try opens the design in the context of binding.
func (s subject) try(secrets [][]byte) (*lab.Bound, error) {
	in, err := s.open(secrets)
	if err != nil {
		return nil, err
	}
	return in.At(binding()), nil
}

func (s subject) open(secrets [][]byte) (*lab.Instance, error) {
	return lab.Open(s.Design, codecs.Config{Secrets: secrets, TTL: new(ttl)})
}

// codec opens the design under secret number 0.
func (s subject) codec(t *testing.T) *lab.Bound {
	t.Helper()
	c, err := s.try(s.ring(0))
	require.NoError(t, err)
	return c
}

// holds reports whether the design claims p.
func (s subject) holds(p codecs.Property) bool {
	g, ok := s.Guarantee(p, nil)
	return ok && g.Holds
}

// payloads returns payloads of 0 to 1 MiB. They are random bytes for codecs and
// JSON text, which every scheme supports, for schemes.
func (s subject) payloads() [][]byte {
	random := rand.NewChaCha8([32]byte{'p'})
	var all [][]byte
	for _, n := range []int{0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 1000, 4095, 4096, 70_000, 1 << 20} {
		b := make([]byte, n)
		random.Read(b) //nolint:errcheck // never fails
		if s.IsScheme() {
			b = jsonText(n)
		}
		all = append(all, b)
	}
	return all
}

// jsonText returns a JSON string of n letters between quotes.
func jsonText(n int) []byte { return append(append([]byte{'"'}, bytes.Repeat([]byte("s"), n)...), '"') }

// sample returns a payload that every design supports.
func (s subject) sample() []byte { return []byte(`{"step":1,"of":3}`) }

// requirePayload checks that got is the payload want: the same bytes or, if the
// design does not claim ByteExact, the same JSON value.
func (s subject) requirePayload(t *testing.T, want, got []byte) {
	t.Helper()
	if s.holds(codecs.ByteExact) || !s.IsScheme() {
		require.True(t, bytes.Equal(want, got), "want %.80q, got %.80q", want, got)
		return
	}
	require.JSONEq(t, string(want), string(got))
}

// mustSeal seals payload and fails the test on an error.
func mustSeal(t *testing.T, c codecs.Codec, payload []byte) []byte {
	t.Helper()
	token, err := c.Seal(nil, payload)
	require.NoError(t, err)
	return token
}

// requireRefused checks that c refuses token, with dst unchanged.
func requireRefused(t *testing.T, c codecs.Codec, token []byte, what string) {
	got, err := c.Unseal([]byte("kept"), token)
	requireRefusal(t, err, what)
	if string(got) != "kept" {
		t.Helper()
		require.Equal(t, "kept", string(got), what)
	}
}

// requireRefusal checks that err is a refusal with the fixed text and a known
// stage. It is called a million times, so it calls testify only after a
// failure.
func requireRefusal(t *testing.T, err error, what string) {
	r := codecs.Rejected(err)
	if r != nil && err.Error() == refusal && slices.Contains(codecs.Stages(), r.Stage) {
		return
	}
	t.Helper()
	require.NotNil(t, r, "%s: want a refusal, got %v", what, err)
	require.Equal(t, refusal, err.Error(), what)
	require.Contains(t, codecs.Stages(), r.Stage, what)
}

// refusal is the text of every refusal.
var refusal = new(codecs.RejectError).Error()

// Open opens a scheme that can mint step by step.
func Open(t testing.TB, d codecs.Design, c codecs.Config) lab.SchemeAssembler {
	t.Helper()
	s, err := d.OpenScheme(c)
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

// MintWith mints a token in which the step at has the value other. The seed is
// zero.
func MintWith(t testing.TB, s lab.SchemeAssembler, state string, c *codecs.Context, at lab.Step, other string) []byte {
	t.Helper()
	token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), []byte(state), c, func(step lab.Step, value []byte) []byte {
		if step == at {
			return []byte(other)
		}
		return value
	})
	require.NoError(t, err)
	return token
}

// RequireReason checks that err is a refusal with the given reason, or nil if
// the reason is empty.
func RequireReason(t testing.TB, want string, err error, format string, args ...any) {
	t.Helper()
	got := ""
	if r := codecs.Rejected(err); r != nil {
		got = r.Reason
	} else {
		require.NoError(t, err)
	}
	require.Equal(t, want, got, append([]any{format}, args...)...)
}
