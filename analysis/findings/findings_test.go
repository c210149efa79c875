package findings_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/internal/verdict"
)

// run returns a run with one result for each claim and outcome.
func run() *verdict.Run {
	witness := &verdict.Reproducer{Attack: "ENC-01", Seed: 7, Calls: []verdict.Call{{
		Op: verdict.OpUnseal, Keys: [][]byte{[]byte("0123456789abcdef0123456789abcdef")}, Token: []byte("v1.<x>|`"),
		Answer: verdict.Answer{Outcome: verdict.Done, Out: []byte("state")},
	}}}
	cell := func(p codecs.Property, v verdict.Outcome, w verdict.Claim) verdict.Result {
		c := verdict.Result{Property: p, Attack: "ENC-01", Name: "unused bits", Outcome: v, Claim: w}
		if v == verdict.Refuted {
			c.Issue, c.Gain, c.Reproducer = "a second spelling is accepted", "a second text", witness
		}
		return c
	}
	return &verdict.Run{Format: verdict.Format, Seed: 7, Designs: []verdict.Design{{Name: "a-codec", Kind: "codec", Results: []verdict.Result{
		cell(codecs.Canonical, verdict.Refuted, verdict.Stated),
		cell(codecs.Integrity, verdict.Refuted, verdict.Stated),
		cell(codecs.Confidentiality, verdict.Refuted, verdict.Disclaims),
		cell(codecs.KeySeparation, verdict.Refuted, verdict.Silent),
		cell(codecs.Total, verdict.NotRefuted, verdict.Stated),
		cell(codecs.KeyCommitting, verdict.NotRefuted, verdict.Disclaims),
		cell(codecs.FreshNonces, verdict.NotTested, verdict.Stated),
	}}}}
}

func TestFindings(t *testing.T) {
	all := findings.Of(run(), "findings.json")
	require.Len(t, all, 3, "what is disclaimed is expected to fall")
	require.Equal(t, []findings.Severity{findings.Critical, findings.Warning, findings.Suggestion},
		[]findings.Severity{all[0].Severity, all[1].Severity, all[2].Severity})
	require.Equal(t, codecs.Integrity, all[0].Category)
	require.Equal(t, "sealab replay findings.json "+all[0].ID, all[0].Verification)
	require.NotContains(t, all[0].Evidence, "0123456789abcdef", "evidence holds no key")
	require.True(t, findings.Accusing(all))

	ofWorker := run()
	ofWorker.Designs[0].Worker = []string{"sh", "it's.sh"}
	require.Equal(t, "sealab replay f.json "+all[0].ID+` --worker 'sh it'\''s.sh'`, findings.Of(ofWorker, "f.json")[0].Verification)
	require.False(t, findings.Accusing(all[2:]), "what is not stated accuses nobody")

	minor := run()
	minor.Designs[0].Results[1].Minor = true
	for _, f := range findings.Of(minor, "f.json") {
		require.NotEqual(t, findings.Critical, f.Severity, "%s: a minor finding is a warning", f.Category)
	}
}

// TestTextIsReadByAPerson checks that each call has its own line, that characters that look alike can be
// distinguished, and that a shortened token shows its length.
func TestTextIsReadByAPerson(t *testing.T) {
	r := run()
	r.Designs[0].Results[0].Reproducer = &verdict.Reproducer{Seed: 7, Calls: []verdict.Call{
		{Op: verdict.OpSeal, State: []byte("\u212b"), Answer: verdict.Answer{Outcome: verdict.Done, Out: []byte("t")}},
		{Op: verdict.OpUnseal, Token: []byte("t"), Answer: verdict.Answer{Outcome: verdict.Done, Out: []byte("\u00c5")}},
		{Op: verdict.OpUnseal, Token: []byte("t..."), Cut: 1 << 20, Answer: verdict.Answer{Outcome: verdict.Fault}},
	}}
	var out strings.Builder
	require.NoError(t, findings.Text(&out, findings.Of(r, "findings.json")))
	require.Regexp(t, `(?m)^  evidence +seed 7\n +seal "\\u212b" -> "t"\n +unseal "t" -> "\\u00c5"\n +unseal "t\.\.\."\.\.\. \(1048576 bytes\) -> fault$`, out.String())
}

func TestEveryPropertyHasARepairAndACWE(t *testing.T) {
	for _, info := range codecs.Properties() {
		r := &verdict.Run{Designs: []verdict.Design{{Kind: "codec", Results: []verdict.Result{
			{Property: info.Property, Outcome: verdict.Refuted, Claim: verdict.Stated, Reproducer: &verdict.Reproducer{}},
		}}}}
		all := findings.Of(r, "f")
		require.NotEmpty(t, all[0].Fix, info.Property)
		log, err := findings.SARIF(all, source)
		require.NoError(t, err)
		require.Regexp(t, `"external/cwe/cwe-[0-9]+"`, string(log), info.Property)
	}
}

func TestFormats(t *testing.T) {
	all := findings.Of(run(), "findings.json")
	data, err := findings.JSON(all)
	require.NoError(t, err)
	again, err := findings.Read(data)
	require.NoError(t, err)
	require.Equal(t, all, again)

	none, err := findings.JSON(findings.Of(&verdict.Run{}, "f"))
	require.NoError(t, err)
	require.Equal(t, "[]\n", string(none))
	require.NoError(t, findings.Validate(none))

	var text bytes.Buffer
	require.NoError(t, findings.Text(&text, all))
	require.Contains(t, text.String(), all[0].ID)
	require.Contains(t, string(findings.Markdown(all)), "&lt;x>", "a token is no markup")
}

// TestSchemaRings checks that the schema rejects invalid documents.
func TestSchemaRings(t *testing.T) {
	data, err := findings.JSON(findings.Of(run(), "findings.json"))
	require.NoError(t, err)
	for from, to := range map[string]string{`"critical"`: `"grave"`, `"issue"`: `"isue"`, `"sealab replay `: `"rm `} {
		require.Error(t, findings.Validate(bytes.Replace(data, []byte(from), []byte(to), 1)), "%s for %s", to, from)
	}
	_, err = findings.Read([]byte(`{"not":"an array"}`))
	require.Error(t, err)
}

func TestTable(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, findings.Table(&text, run()))
	for _, want := range []string{"refuted ", "refuted (disclaimed)", "refuted (not stated)", "not refuted (disclaimed)", "not tested"} {
		require.Contains(t, text.String(), want)
	}
	require.Contains(t, string(findings.MarkdownTable(run())), "| a-codec | refuted: ENC-01 |")
}
