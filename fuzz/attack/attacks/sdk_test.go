package attacks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// TestKnownFacts checks that the attacks find known weaknesses of the SDKs' formats. Each is
// found by one attack alone, on the named design.
func TestKnownFacts(t *testing.T) {
	for _, fact := range []struct {
		design  string
		options map[string]string
		attack  string
		fallen  codecs.Property
	}{
		{"mcp-d", nil, "ORA-01", codecs.Integrity},                                               // a published tag is the tag of the subject's text
		{"mcp-d", nil, "LNK-01", codecs.Unlinkable},                                              // the tag has no salt
		{"mcp-d-faithful", nil, "ENC-01", codecs.Canonical},                                      // unused bits are ignored
		{"mcp-d", map[string]string{"bind": "authSubjectAndTool"}, "CTX-04", codecs.Unambiguous}, // a NUL moves text between subject and tool
		{"mcp-ts-faithful", nil, "ENC-04", codecs.Canonical},                                     // white space is ignored
		{"mcp-ts-faithful", nil, "ENC-03", codecs.Canonical},                                     // padding is ignored
		{"mcp-ts", nil, "CTX-01", codecs.BindsPrincipal},                                         // nothing is bound
		{"mcp-ts", nil, "KEY-05", codecs.KeySeparation},                                          // K equals K and zeros
		{"mcp-rb", nil, "CTX-01", codecs.BindsPrincipal},                                         // no principal
		{"mcp-rb-faithful", nil, "ENC-02", codecs.Canonical},                                     // + is read as -
		{"mcp-rb-faithful", nil, "ENC-03", codecs.Canonical},                                     // padding is ignored
	} {
		t.Run(fact.design+" "+fact.attack, func(t *testing.T) {
			d, err := catalog.Find(fact.design)
			require.NoError(t, err)
			got := runAttacks(t, &attack.Design{Design: d, Options: fact.options}, seed, small(), fact.attack)
			for _, cell := range got.Results {
				if cell.Property == fact.fallen {
					require.Equal(t, verdict.Refuted, cell.Outcome, cell.Reason)
					return
				}
			}
			t.Fatalf("%s says nothing of %s", fact.attack, fact.fallen)
		})
	}
}

// TestCommitmentIsTried attacks designs that commit to their keys by a longer tag with the
// attack that refutes AES-GCM.
func TestCommitmentIsTried(t *testing.T) {
	testenv.SkipSample(t) // TestControlsFall tests the attack
	for design, want := range map[string]verdict.Outcome{
		"aes-256-gcm": verdict.Refuted, "xaes-256-gcm": verdict.Refuted, "aes-256-gcm-siv": verdict.Refuted,
		"aes-256-gcm-ctx": verdict.NotRefuted, "dndk-gcm": verdict.NotRefuted,
	} {
		d, err := catalog.Find(design)
		require.NoError(t, err)
		got := runAttacks(t, &attack.Design{Design: d}, seed, attack.DefaultBudget(), "KEY-09")
		require.Len(t, got.Results, 1, design)
		require.Equal(t, want, got.Results[0].Outcome, "%s: %s", design, got.Results[0].Reason)
	}
}

// TestForgeryIsCarriedOut completes the forgery by the published tag of the D format: a token
// that verifies, with a state that the server never wrote.
func TestForgeryIsCarriedOut(t *testing.T) {
	d, err := catalog.Find("mcp-d")
	require.NoError(t, err)
	got := runAttacks(t, &attack.Design{Design: d}, seed, small(), "ORA-01")
	require.Equal(t, verdict.Refuted, got.Results[0].Outcome)
	calls := got.Results[0].Reproducer.Calls
	forged := calls[len(calls)-1]
	require.Equal(t, verdict.Done, forged.Answer.Outcome)
	s, err := d.OpenScheme(codecs.Config{Secrets: forged.Keys})
	require.NoError(t, err)
	state, err := s.Verify(nil, forged.Token, forged.Context.Codecs())
	require.NoError(t, err)
	letters := strings.TrimSuffix(strings.TrimPrefix(string(state), `{"step":"`), `"}`)
	require.Equal(t, strings.ToUpper(letters), letters, "the server writes small letters, the attacker capitals")
}
