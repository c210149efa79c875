package taint

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// at returns a report for one line of a function with callers.
func at(kind runfile.Dependence, op, function string, line int, text string, callers ...string) runfile.Report {
	r := runfile.Report{Kind: kind, Op: op, Stack: []runfile.Frame{{Function: function, File: "f.go", Line: line, Text: text}}}
	for _, c := range callers {
		r.Stack = append(r.Stack, runfile.Frame{Function: c, Line: 1})
	}
	return r
}

func logs(subject string, none, key []runfile.Report) []*runfile.Log {
	return []*runfile.Log{
		{Subject: subject, Secret: runfile.None, Reports: none},
		{Subject: subject, Secret: runfile.Key, Reports: key},
	}
}

func TestWhatGoesWhere(t *testing.T) {
	noise := at(runfile.Branch, "seal", "runtime.lock", 7, "lock")
	refusing := at(runfile.Branch, "refuse", "sealab/codecs/x.leak", 3, "if secret[0] == guess[0] {")
	unsealing := at(runfile.Address, "unseal", "sealab/codecs/x.table", 4, "table[secret[0]]")
	comparison := at(runfile.Branch, "refuse", "crypto/x.open", 5, "if !same(a, b) {")
	comparison.Stack[0].Tests = []string{"crypto/x.same", "crypto/subtle.ConstantTimeCompare"}
	token := at(runfile.Address, "seal", "encoding/base64.Encode", 6, "enc[v]", "sealab/codecs/internal/base64url.appendEncode")
	v := judge(logs("x", []runfile.Report{noise}, []runfile.Report{noise, refusing, unsealing, comparison, token}), map[int]bool{})
	require.Equal(t, verdict.Refuted, v.Outcome)
	require.Len(t, v.Against, 1)
	require.Equal(t, "if secret[0] == guess[0] {", v.Against[0].Text)
	require.Len(t, v.Observed, 1)
	require.Equal(t, runfile.Address, v.Observed[0].Kind)
	require.Len(t, v.Declassified, 2)
}

// TestReasonsAreNarrow checks reports that resemble declassified ones but are not declassified.
func TestReasonsAreNarrow(t *testing.T) {
	testing := func(kind runfile.Dependence, tests ...string) runfile.Report {
		r := at(kind, "refuse", "sealab/codecs/x.open", 6, "if subtle.ConstantTimeCompare(a, b) != 1 {")
		r.Stack[0].Tests = tests
		return r
	}
	require.GreaterOrEqual(t, rowFor(testing(runfile.Branch, "crypto/subtle.ConstantTimeCompare")), 0)
	require.GreaterOrEqual(t, rowFor(at(runfile.Branch, "unseal", "sealab/codecs/internal/keyring.(*Ring).Lookup", 6, "")), 0)
	for name, r := range map[string]runfile.Report{
		"decoding":               at(runfile.Address, "unseal", "encoding/base64.Decode", 6, "enc[v]", "sealab/codecs/internal/base64url.appendDecode"),
		"look-up in a map":       at(runfile.Branch, "unseal", "runtime.mapaccess1", 6, "", "sealab/codecs/x.look"),
		"variable-time equality": at(runfile.Branch, "unseal", "runtime.memequal", 6, ""),
		"division of a secret":   at(runfile.Division, "any", "math/big.div", 6, "a / b"),
		"text alone":             testing(runfile.Branch),
		"another comparison":     testing(runfile.Branch, "bytes.Equal"),
		"own subtle":             testing(runfile.Branch, "sealab/codecs/xsubtle.ConstantTimeCompare"),
		"address":                testing(runfile.Address, "crypto/subtle.ConstantTimeCompare"),
		"another Lookup":         at(runfile.Branch, "unseal", "sealab/codecs/otherkeyring.(*Ring).Lookup", 6, ""),
		"package like runtime":   at(runfile.Division, "any", "sealab/codecs/myruntime.f", 6, ""),
	} {
		require.Negative(t, rowFor(r), name)
	}
	for i, d := range declassified {
		require.NotEmpty(t, d.reason, i)
		require.NotEmpty(t, d.at+d.verdict+d.within, d.reason)
	}
}

// TestRecordedLogs judges logs recorded under valgrind 3.19 with Go 1.26.8: every control, and a sound
// design whose comparison is in another package. If the logs lack the functions that its lines branch on,
// the design is refuted.
func TestRecordedLogs(t *testing.T) {
	logs, err := runfile.ReadTaintLogs("testdata")
	require.NoError(t, err)
	j := Judge(logs)
	require.Empty(t, j.Faults)
	require.False(t, j.Refuted())
	require.Zero(t, j.NotTested())
	controls := map[runfile.Expectation]int{}
	for _, v := range j.Verdicts {
		controls[v.Expect]++
	}
	require.Equal(t, map[runfile.Expectation]int{runfile.Leaks: 8, runfile.Clean: 4, runfile.Open: 1}, controls)

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

// TestAccusedLog moves the comparison of the recorded sound design to a line that also branches on
// something else.
func TestAccusedLog(t *testing.T) {
	logs, err := runfile.ReadTaintLogs("testdata")
	require.NoError(t, err)
	changed := 0
	for _, l := range logs {
		for i, r := range l.Reports {
			if l.Expect == runfile.Open && r.Op == "refuse" && len(r.Stack[0].Tests) > 0 {
				l.Reports[i].Stack[0].Tests = []string{"bytes.Equal"}
				changed++
			}
		}
	}
	require.Positive(t, changed)
	require.True(t, Judge(logs).Refuted())
}

// TestOneLineOnce checks that reports of one line become one finding with all operations.
func TestOneLineOnce(t *testing.T) {
	line := func(op string) runfile.Report {
		return at(runfile.Branch, op, "sealab/codecs/x.leak", 3, "if secret {")
	}
	v := judge(logs("x", nil, []runfile.Report{line("unseal"), line("refuse"), line("refuse")}), map[int]bool{})
	require.Len(t, v.Against, 1)
	require.Equal(t, []string{"unseal", "refuse"}, v.Against[0].Ops)
}

func TestControls(t *testing.T) {
	leak := at(runfile.Branch, "unseal", "main.earlyExit", 3, "if a[i] != b[i] {")
	elsewhere := at(runfile.Branch, "unseal", "main.other", 9, "if x {")
	for _, c := range []struct {
		name   string
		expect runfile.Expectation
		seen   []runfile.Report
		fault  string
	}{
		{"found", runfile.Leaks, []runfile.Report{leak}, ""},
		{"missed", runfile.Leaks, nil, "was not found"},
		{"found in another line", runfile.Leaks, []runfile.Report{elsewhere}, "was not found"},
		{"clean", runfile.Clean, nil, ""},
		{"accused", runfile.Clean, []runfile.Report{elsewhere}, "was accused"},
	} {
		ls := logs("control", nil, c.seen)
		for _, l := range ls {
			l.Expect = c.expect
			if c.expect == runfile.Leaks {
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

// TestMissingRunsAreNotTested judges subjects without the noise log, without a secret's log, and with a
// failed run.
func TestMissingRunsAreNotTested(t *testing.T) {
	both := logs("x", nil, nil)
	both[1].Failed = "it does not run"
	for _, ls := range [][]*runfile.Log{both, both[:1], logs("x", nil, nil)[1:]} {
		require.Equal(t, verdict.NotTested, judge(ls, map[int]bool{}).Outcome)
	}
	require.NotEmpty(t, Judge(logs("x", nil, nil)).Faults, "a run without controls says nothing")
}

func TestTableNamesTheLine(t *testing.T) {
	j := Judge(logs("x", nil, []runfile.Report{at(runfile.Branch, "refuse", "sealab/codecs/x.leak", 3, "if secret {")}))
	var out bytes.Buffer
	require.NoError(t, j.WriteTable(&out, 10, 0))
	require.Contains(t, out.String(), "f.go:3: sealab/codecs/x.leak: if secret {")
	require.Contains(t, out.String(), "void: there is no control")
	require.True(t, j.Refuted())
}
