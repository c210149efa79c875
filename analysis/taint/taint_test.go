package taint

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/taintfile"
	"sealab/internal/verdict"
)

// at returns a report in one line of a function, with callers.
func at(kind taintfile.Kind, op, function string, line int, text string, callers ...string) taintfile.Report {
	r := taintfile.Report{Kind: kind, Op: op, Stack: []taintfile.Frame{{Function: function, File: "f.go", Line: line, Text: text}}}
	for _, c := range callers {
		r.Stack = append(r.Stack, taintfile.Frame{Function: c, Line: 1})
	}
	return r
}

func logs(subject string, none, key []taintfile.Report) []*taintfile.Log {
	return []*taintfile.Log{
		{Subject: subject, Secret: taintfile.None, Reports: none},
		{Subject: subject, Secret: taintfile.Key, Reports: key},
	}
}

func TestWhatGoesWhere(t *testing.T) {
	noise := at(taintfile.Branch, "seal", "runtime.lock", 7, "lock")
	refusing := at(taintfile.Branch, "refuse", "sealab/codecs/x.leak", 3, "if secret[0] == guess[0] {")
	unsealing := at(taintfile.Address, "unseal", "sealab/codecs/x.table", 4, "table[secret[0]]")
	comparison := at(taintfile.Branch, "refuse", "crypto/x.open", 5, "if !same(a, b) {")
	comparison.Stack[0].Tests = []string{"crypto/x.same", "crypto/subtle.ConstantTimeCompare"}
	token := at(taintfile.Address, "seal", "encoding/base64.Encode", 6, "enc[v]", "sealab/codecs/internal/base64url.appendEncode")
	v := judge(logs("x", []taintfile.Report{noise}, []taintfile.Report{noise, refusing, unsealing, comparison, token}), map[int]bool{})
	require.Equal(t, verdict.Refuted, v.Outcome)
	require.Len(t, v.Against, 1)
	require.Equal(t, "if secret[0] == guess[0] {", v.Against[0].Text)
	require.Len(t, v.Observed, 1)
	require.Equal(t, taintfile.Address, v.Observed[0].Kind)
	require.Len(t, v.Declassified, 2)
}

// TestReasonsAreNarrow shows reports that resemble declassified ones and are not.
func TestReasonsAreNarrow(t *testing.T) {
	testing := func(kind taintfile.Kind, tests ...string) taintfile.Report {
		r := at(kind, "refuse", "sealab/codecs/x.open", 6, "if subtle.ConstantTimeCompare(a, b) != 1 {")
		r.Stack[0].Tests = tests
		return r
	}
	require.GreaterOrEqual(t, rowFor(testing(taintfile.Branch, "crypto/subtle.ConstantTimeCompare")), 0)
	require.GreaterOrEqual(t, rowFor(at(taintfile.Branch, "unseal", "sealab/codecs/internal/keyring.(*Ring).Lookup", 6, "")), 0)
	for name, r := range map[string]taintfile.Report{
		"decoding":               at(taintfile.Address, "unseal", "encoding/base64.Decode", 6, "enc[v]", "sealab/codecs/internal/base64url.appendDecode"),
		"look-up in a map":       at(taintfile.Branch, "unseal", "runtime.mapaccess1", 6, "", "sealab/codecs/x.look"),
		"variable-time equality": at(taintfile.Branch, "unseal", "runtime.memequal", 6, ""),
		"division of a secret":   at(taintfile.Division, "any", "math/big.div", 6, "a / b"),
		"text alone":             testing(taintfile.Branch),
		"another comparison":     testing(taintfile.Branch, "bytes.Equal"),
		"own subtle":             testing(taintfile.Branch, "sealab/codecs/xsubtle.ConstantTimeCompare"),
		"address":                testing(taintfile.Address, "crypto/subtle.ConstantTimeCompare"),
		"another Lookup":         at(taintfile.Branch, "unseal", "sealab/codecs/otherkeyring.(*Ring).Lookup", 6, ""),
		"package like runtime":   at(taintfile.Division, "any", "sealab/codecs/myruntime.f", 6, ""),
	} {
		require.Negative(t, rowFor(r), name)
	}
	for i, d := range declassified {
		require.NotEmpty(t, d.reason, i)
		require.NotEmpty(t, d.at+d.verdict+d.within, d.reason)
	}
}

// TestRecordedLogs judges logs that were recorded under valgrind 3.19 with Go
// 1.26.8: every control and a sound design whose comparison is made in another
// package. Without the functions that its lines branch on the design is accused.
func TestRecordedLogs(t *testing.T) {
	logs, err := taintfile.ReadFolder("testdata")
	require.NoError(t, err)
	j := Judge(logs)
	require.Empty(t, j.Faults)
	require.False(t, j.Refuted())
	require.Zero(t, j.NotTested())
	controls := map[taintfile.Expectation]int{}
	for _, v := range j.Verdicts {
		controls[v.Expect]++
	}
	require.Equal(t, map[taintfile.Expectation]int{taintfile.Leaks: 8, taintfile.Clean: 4, taintfile.Open: 1}, controls)

	for _, l := range logs {
		for _, r := range l.Reports {
			for i := range r.Stack {
				r.Stack[i].Tests = nil
			}
		}
	}
	j = Judge(logs)
	require.True(t, j.Refuted())
	require.Len(t, j.Faults, 1)
	require.Contains(t, j.Faults[0], "control-public-verdict")
}

// TestAccusedLog moves the comparison of the recorded sound design into a line
// that also branches on something else.
func TestAccusedLog(t *testing.T) {
	logs, err := taintfile.ReadFolder("testdata")
	require.NoError(t, err)
	changed := 0
	for _, l := range logs {
		for i, r := range l.Reports {
			if l.Expect == taintfile.Open && r.Op == "refuse" && len(r.Stack[0].Tests) > 0 {
				l.Reports[i].Stack[0].Tests = []string{"bytes.Equal"}
				changed++
			}
		}
	}
	require.Positive(t, changed)
	require.True(t, Judge(logs).Refuted())
}

// TestOneLineOnce gathers the operations in which one line was reported.
func TestOneLineOnce(t *testing.T) {
	line := func(op string) taintfile.Report {
		return at(taintfile.Branch, op, "sealab/codecs/x.leak", 3, "if secret {")
	}
	v := judge(logs("x", nil, []taintfile.Report{line("unseal"), line("refuse"), line("refuse")}), map[int]bool{})
	require.Len(t, v.Against, 1)
	require.Equal(t, []string{"unseal", "refuse"}, v.Against[0].Ops)
}

func TestControls(t *testing.T) {
	leak := at(taintfile.Branch, "unseal", "main.earlyExit", 3, "if a[i] != b[i] {")
	elsewhere := at(taintfile.Branch, "unseal", "main.other", 9, "if x {")
	for _, c := range []struct {
		name   string
		expect taintfile.Expectation
		seen   []taintfile.Report
		fault  string
	}{
		{"found", taintfile.Leaks, []taintfile.Report{leak}, ""},
		{"missed", taintfile.Leaks, nil, "was not found"},
		{"found in another line", taintfile.Leaks, []taintfile.Report{elsewhere}, "was not found"},
		{"clean", taintfile.Clean, nil, ""},
		{"accused", taintfile.Clean, []taintfile.Report{elsewhere}, "was accused"},
	} {
		ls := logs("control", nil, c.seen)
		for _, l := range ls {
			l.Expect = c.expect
			if c.expect == taintfile.Leaks {
				l.Line = "a[i] != b[i]"
			}
		}
		j := Judge(ls)
		if c.fault == "" {
			require.Empty(t, j.Faults, c.name)
			continue
		}
		require.Len(t, j.Faults, 1, c.name)
		require.Contains(t, j.Faults[0], c.fault, c.name)
	}
}

// TestMissingRunsAreUnexercised judges a subject without its noise, without its
// secret, and one that does not run.
func TestMissingRunsAreUnexercised(t *testing.T) {
	both := logs("x", nil, nil)
	both[1].Failed = "it does not run"
	for _, ls := range [][]*taintfile.Log{both, both[:1], logs("x", nil, nil)[1:]} {
		require.Equal(t, verdict.Unexercised, judge(ls, map[int]bool{}).Outcome)
	}
	require.NotEmpty(t, Judge(logs("x", nil, nil)).Faults, "a run without controls says nothing")
}

func TestTableNamesTheLine(t *testing.T) {
	j := Judge(logs("x", nil, []taintfile.Report{at(taintfile.Branch, "refuse", "sealab/codecs/x.leak", 3, "if secret {")}))
	var out bytes.Buffer
	require.NoError(t, j.WriteTable(&out, 10))
	require.Contains(t, out.String(), "f.go:3: sealab/codecs/x.leak: if secret {")
	require.Contains(t, out.String(), "void: there is no control")
	require.True(t, j.Refuted())
}
