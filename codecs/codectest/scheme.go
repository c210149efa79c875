package codectest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

// testBindings checks that a token is refused under a binding that differs in
// one respect, where the design states that it binds that respect.
func testBindings(t *testing.T, s subject) {
	scheme, err := s.scheme(s.ring(0))
	require.NoError(t, err)
	empty, bob := "", "bob"
	for _, c := range []struct {
		property codecs.Property
		name     string
		change   func(*codecs.Binding)
	}{
		{codecs.BindsMethod, "other method", func(b *codecs.Binding) { b.Method = "prompts/get" }},
		{codecs.BindsTarget, "other target", func(b *codecs.Binding) { b.Target = "rollback" }},
		{codecs.BindsTarget, "longer target", func(b *codecs.Binding) { b.Target += "x" }},
		{codecs.BindsTarget, "no target", func(b *codecs.Binding) { b.Target = "" }},
		{codecs.BindsArguments, "other arguments", func(b *codecs.Binding) { b.Arguments = json.RawMessage(`{"env":"test"}`) }},
		{codecs.BindsArguments, "more arguments", func(b *codecs.Binding) { b.Arguments = json.RawMessage(`{"env":"prod","force":true}`) }},
		{codecs.BindsArguments, "no arguments", func(b *codecs.Binding) { b.Arguments = nil }},
		{codecs.BindsPrincipal, "other principal", func(b *codecs.Binding) { b.Principal = &bob }},
		{codecs.BindsPrincipal, "no principal", func(b *codecs.Binding) { b.Principal = nil }},
		{codecs.BindsPrincipal, "empty principal", func(b *codecs.Binding) { b.Principal = &empty }},
		{codecs.BindsAudience, "other audience", func(b *codecs.Binding) { b.Audience = &bob }},
		{codecs.BindsAudience, "no audience", func(b *codecs.Binding) { b.Audience = nil }},
		{codecs.BindsAudience, "empty audience", func(b *codecs.Binding) { b.Audience = &empty }},
	} {
		if !s.holds(c.property) {
			continue
		}
		changed := binding()
		c.change(changed)
		requireRefused(t, at(scheme, changed, noon), mustSeal(t, at(scheme, binding(), noon), s.sample()), c.name)
		requireRefused(t, at(scheme, binding(), noon), mustSeal(t, at(scheme, changed, noon), s.sample()), c.name+", reversed")
	}
	testZeroBinding(t, s, scheme)
}

// testZeroBinding checks that no binding at all means the zero Binding.
func testZeroBinding(t *testing.T, s subject, scheme codecs.Scheme) {
	token := mustSeal(t, at(scheme, nil, noon), s.sample())
	for _, b := range []*codecs.Binding{nil, {}} {
		got, err := scheme.Verify(nil, token, b, noon)
		require.NoError(t, err)
		s.requirePayload(t, s.sample(), got)
	}
}

// testExpiry checks that tokens are good from their minting on until they
// expire and not after, and that no time to live makes them last for ever.
func testExpiry(t *testing.T, s subject) {
	scheme, err := s.scheme(s.ring(0))
	require.NoError(t, err)
	token := mustSeal(t, at(scheme, binding(), noon), s.sample())
	for _, after := range []time.Duration{0, time.Second, ttl / 2, ttl - time.Second} {
		_, err := scheme.Verify(nil, token, binding(), noon.Add(after))
		require.NoError(t, err, "%v after minting", after)
	}
	if !s.holds(codecs.Expiry) {
		return
	}
	for _, after := range []time.Duration{ttl + time.Second, ttl + time.Hour, 1000 * ttl, 100_000 * time.Hour} {
		requireRefused(t, at(scheme, binding(), noon.Add(after)), token, after.String()+" after minting")
	}
}

// at returns scheme as a codec under b and at now.
func at(scheme codecs.Scheme, b *codecs.Binding, now time.Time) codecs.Codec {
	return codecs.Bound{Scheme: scheme, Binding: b, Now: now}
}
