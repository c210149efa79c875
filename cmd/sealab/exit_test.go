package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/cmd/sealab/internal/subject"
	"sealab/fuzz/attack"
	"sealab/internal/cli"
)

// TestExitStatus checks that a refused token and a fault give different exit
// statuses.
func TestExitStatus(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(keys, []byte(strings.Repeat("00ff", 16)), 0o600))
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"done", []string{"seal", "hmac-sha256", "--keys", keys}, cli.OK},
		{"refused", []string{"unseal", "hmac-sha256", "--keys", keys}, cli.Refuted},
		{"no such file", []string{"unseal", "hmac-sha256", "--keys", keys + ".old"}, cli.Fault},
		{"no such design", []string{"unseal", "nope", "--keys", keys}, cli.Fault},
		{"not a token", []string{"inspect"}, cli.Fault},
	} {
		var stdout, stderr bytes.Buffer
		got := run(c.args, strings.NewReader("payload"), &stdout, &stderr)
		require.Equal(t, c.want, got, "%s: %s", c.name, stderr.String())
		require.Equal(t, c.want == cli.OK, stderr.Len() == 0, "%s: %s", c.name, stderr.String())
		require.LessOrEqual(t, strings.Count(stderr.String(), "\n"), 1, c.name)
	}
}

func TestInterruptIsTheReason(t *testing.T) {
	var interrupted bool
	f := attackFlags{interrupted: func() bool { return interrupted }}
	used := func() time.Duration { return time.Minute }
	require.NoError(t, f.over(used, time.Minute)())
	require.ErrorIs(t, f.over(used, time.Second)(), attack.ErrTimeOver)
	interrupted = true
	require.ErrorIs(t, f.over(used, time.Second)(), errInterrupted)
}

// TestInterruptedCampaigns checks the exit status and the message of an
// interrupted campaign.
func TestInterruptedCampaigns(t *testing.T) {
	const kept = "everything is kept in c, and the same command resumes"
	fault := errors.New("disk full")
	for name, row := range map[string]struct {
		limit       time.Duration
		interrupted bool
		failed      error
		status      int
		want        string
	}{
		"its time was over":              {time.Hour, false, nil, cli.OK, ""},
		"until an interrupt":             {0, true, nil, cli.OK, "interrupted: " + kept + "\n"},
		"before its time was over":       {time.Hour, true, nil, cli.Fault, "sealab: interrupted before the end of --for 1h0m0s: " + kept + "\n"},
		"with crashers":                  {time.Hour, true, cli.ErrRefuted, cli.Refuted, "interrupted: " + kept + "\n"},
		"with crashers, not interrupted": {time.Hour, false, cli.ErrRefuted, cli.Refuted, ""},
		"with a fault beside":            {0, true, fault, cli.Fault, "sealab: interrupted: " + kept + ": disk full\n"},
		"with a fault, and no interrupt": {0, false, fault, cli.Fault, "sealab: disk full\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fuzzRunFlags{limit: row.limit, campaignFolder: campaignFolder{dir: "c"}}
			var stderr bytes.Buffer
			require.Equal(t, row.status, subject.PrintError(&stderr, f.end(&stderr, row.interrupted, row.failed)))
			require.Equal(t, row.want, stderr.String())
		})
	}
}
