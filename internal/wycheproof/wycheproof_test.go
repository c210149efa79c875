package wycheproof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = `{"algorithm": "SAMPLE", "numberOfTests": 3, "testGroups": [
	{"type": "AeadTest", "ivSize": 96, "keySize": 256, "tagSize": 128, "tests": [
		{"tcId": 1, "comment": "fine", "key": "00ff", "iv": "", "result": "valid", "flags": []},
		{"tcId": 2, "comment": "bad tag", "key": "00", "result": "invalid", "flags": ["BadTag"]}]},
	{"type": "AeadTest", "ivSize": 64, "tests": [
		{"tcId": 3, "comment": "odd", "result": "acceptable", "flags": []}]}]}`

func TestParse(t *testing.T) {
	f, err := parse([]byte(sample))
	require.NoError(t, err)
	require.Equal(t, Hex{0, 0xff}, f.TestGroups[0].Tests[0].Key)
	require.Equal(t, 96, f.TestGroups[0].IVSize)
	require.True(t, f.TestGroups[0].Tests[1].Has("BadTag"))
	for _, bad := range []string{``, `{}`, `{"numberOfTests": 1}`, sample[:100],
		`{"numberOfTests": 2, "testGroups": [{"tests": [{"tcId": 1}]}]}`,
		`{"numberOfTests": 1, "testGroups": [{"tests": [{"key": "0g"}]}]}`} {
		_, err := parse([]byte(bad))
		require.ErrorContains(t, err, "wycheproof:", bad)
	}
}

// TestJudgeRings runs Judge with a correct primitive and with wrong ones.
func TestJudgeRings(t *testing.T) {
	f, err := parse([]byte(sample))
	require.NoError(t, err)
	always := func(o Outcome) func(*Group, *Case) Outcome {
		return func(*Group, *Case) Outcome { return o }
	}
	right := func(_ *Group, c *Case) Outcome {
		if c.Result == Invalid {
			return Refused
		}
		return Accepted
	}
	for _, c := range []struct {
		name  string
		try   func(*Group, *Case) Outcome
		wrong int
		tally Tally
	}{
		{"right", right, 0, Tally{Accepted: 1, Refused: 1, AcceptableAccepted: 1}},
		{"accepts all", always(Accepted), 1, Tally{Accepted: 1, AcceptableAccepted: 1}},
		{"refuses all", always(Refused), 1, Tally{Refused: 1, AcceptableRefused: 1}},
		{"computes something else", always(Differs), 3, Tally{}},
	} {
		tally, wrong := f.Judge(c.try)
		require.Len(t, wrong, c.wrong, c.name)
		require.Equal(t, c.tally, tally, c.name)
	}
}
