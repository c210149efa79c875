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
	comparison := at(taintfile.Branch, "refuse", "crypto/x.open", 5, "if subtle.ConstantTimeCompare(a, b) != 1 {")
	token := at(taintfile.Address, "seal", "encoding/base64.Encode", 6, "enc[v]", "sealab/codecs/b64.appendEncode")
	v := judge(logs("x", []taintfile.Report{noise}, []taintfile.Report{noise, refusing, unsealing, comparison, token}), map[int]bool{})
	require.Equal(t, verdict.Refuted, v.Outcome)
	require.Len(t, v.Against, 1)
	require.Equal(t, "if secret[0] == guess[0] {", v.Against[0].Text)
	require.Len(t, v.Observed, 1)
	require.Equal(t, taintfile.Address, v.Observed[0].Kind)
	require.Len(t, v.Declassified, 2)
}

// TestReasonsAreNarrow shows lines that look like declassified ones and are not.
func TestReasonsAreNarrow(t *testing.T) {
	for _, r := range []taintfile.Report{
		at(taintfile.Address, "unseal", "encoding/base64.Decode", 6, "enc[v]", "sealab/codecs/b64.appendDecode"),
		at(taintfile.Branch, "unseal", "runtime.mapaccess1", 6, "", "sealab/codecs/x.look"),
		at(taintfile.Branch, "unseal", "runtime.memequal", 6, ""),
		at(taintfile.Division, "any", "math/big.div", 6, "a / b"),
	} {
		require.Negative(t, rowFor(r), r.Stack[0].Function)
	}
	for i, d := range declassified {
		require.NotEmpty(t, d.reason, i)
		require.NotEmpty(t, d.at+d.text+d.within, d.reason)
	}
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
