package codectest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// Open opens a scheme that can be sealed step by step.
func Open(t testing.TB, d codecs.Design, c codecs.Config) lab.SchemeAssembler {
	t.Helper()
	s, err := d.OpenScheme(c)
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

// MintWith mints a token in which one step has another value. The seed is zero.
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

// RequireReason requires the refusal with the wanted reason, or no error if the
// reason is empty.
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
