package codectest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// testBindings checks that a token is refused in a context that differs in one
// part, if the design claims to bind that part.
func testBindings(t *testing.T, s subject) {
	scheme, err := s.open(s.ring(0))
	require.NoError(t, err)
	empty, bob := "", "bob"
	for _, c := range []struct {
		property codecs.Property
		name     string
		change   func(*codecs.Context)
	}{
		{codecs.BindsMethod, "other method", func(b *codecs.Context) { b.Method = "prompts/get" }},
		{codecs.BindsTarget, "other target", func(b *codecs.Context) { b.Target = "rollback" }},
		{codecs.BindsTarget, "longer target", func(b *codecs.Context) { b.Target += "x" }},
		{codecs.BindsTarget, "no target", func(b *codecs.Context) { b.Target = "" }},
		{codecs.BindsArguments, "other arguments", func(b *codecs.Context) { b.Arguments = json.RawMessage(`{"env":"test"}`) }},
		{codecs.BindsArguments, "more arguments", func(b *codecs.Context) { b.Arguments = json.RawMessage(`{"env":"prod","force":true}`) }},
		{codecs.BindsArguments, "no arguments", func(b *codecs.Context) { b.Arguments = nil }},
		{codecs.BindsPrincipal, "other principal", func(b *codecs.Context) { b.Principal = &bob }},
		{codecs.BindsPrincipal, "no principal", func(b *codecs.Context) { b.Principal = nil }},
		{codecs.BindsPrincipal, "empty principal", func(b *codecs.Context) { b.Principal = &empty }},
		{codecs.BindsAudience, "other audience", func(b *codecs.Context) { b.Audience = &bob }},
		{codecs.BindsAudience, "no audience", func(b *codecs.Context) { b.Audience = nil }},
		{codecs.BindsAudience, "empty audience", func(b *codecs.Context) { b.Audience = &empty }},
	} {
		if !s.holds(c.property) {
			continue
		}
		changed := binding()
		c.change(changed)
		requireRefused(t, scheme.At(changed), mustSeal(t, scheme.At(binding()), s.sample()), c.name)
		requireRefused(t, scheme.At(binding()), mustSeal(t, scheme.At(changed), s.sample()), c.name+", reversed")
	}
	testNoTime(t, s, scheme)
}

// testNoTime checks that a nil context and a context without a time are errors
// but not refusals, and that a context with only a time is accepted.
func testNoTime(t *testing.T, s subject, scheme *lab.Instance) {
	token := mustSeal(t, scheme.At(&codecs.Context{Now: noon}), s.sample())
	requireAccepted(t, s, scheme.At(&codecs.Context{Now: noon}), token)
	for name, c := range map[string]*codecs.Context{"nil": nil, "zero": {}, "no time": {Method: "tools/call", Target: "deploy"}} {
		for call, do := range map[string]func([]byte, []byte, *codecs.Context) ([]byte, error){
			"Mint": scheme.Seal, "Verify": scheme.Unseal,
		} {
			got, err := do([]byte("kept"), token, c)
			require.Error(t, err, "%s with context %s", call, name)
			require.Nil(t, codecs.Rejected(err), "%s with context %s", call, name)
			require.Equal(t, "kept", string(got))
		}
	}
	if scheme.Edited() {
		_, err := scheme.SealEdited(nil, make([]byte, scheme.SeedSize()), s.sample(), &codecs.Context{}, nil)
		require.Error(t, err)
	}
}

// requireAccepted checks that c unseals token to the sample.
func requireAccepted(t *testing.T, s subject, c codecs.Codec, token []byte) {
	t.Helper()
	got, err := c.Unseal(nil, token)
	require.NoError(t, err)
	s.requirePayload(t, s.sample(), got)
}

// testExpiry checks that tokens are valid from their minting until they expire,
// and that no time to live makes them last forever.
func testExpiry(t *testing.T, s subject) {
	scheme, err := s.open(s.ring(0))
	require.NoError(t, err)
	token := mustSeal(t, scheme.At(binding()), s.sample())
	for _, after := range []time.Duration{0, time.Second, ttl / 2, ttl - time.Second} {
		_, err := scheme.Unseal(nil, token, later(after))
		require.NoError(t, err, "%v after minting", after)
	}
	if !s.holds(codecs.Expiry) {
		return
	}
	for _, after := range []time.Duration{ttl + time.Second, ttl + time.Hour, 1000 * ttl, 100_000 * time.Hour} {
		requireRefused(t, scheme.At(later(after)), token, after.String()+" after minting")
	}
}

// later returns binding at a later time.
func later(after time.Duration) *codecs.Context {
	c := binding()
	c.Now = noon.Add(after)
	return c
}
