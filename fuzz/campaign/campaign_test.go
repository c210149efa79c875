package campaign_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign"
	"sealab/fuzz/corpus"
)

const fixture = "sealab/fuzz/campaign/testdata/fixture"

var (
	parse = campaign.Target{Name: "parse", Native: "FuzzParse"}
	sound = campaign.Target{Name: "sound", Native: "FuzzSound"}
)

func config(t *testing.T, dir string, targets ...campaign.Target) campaign.Config {
	t.Helper()
	return campaign.Config{Dir: dir, Package: fixture, Replay: fixture + "/replay", Cover: fixture, Targets: targets, Workers: 1, Slice: time.Second,
		Env: []string{"SEALAB_FUZZ_HANG=500ms", "SEALAB_FUZZ_MEMORY=512"}, Now: time.Now, Log: func(line string) { t.Log(line) }}
}

// plant writes inputs to a target's corpus.
func plant(t *testing.T, dir string, target campaign.Target, inputs ...string) {
	t.Helper()
	folder := filepath.Join(dir, "corpus", target.Native)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, input := range inputs {
		file := corpus.Marshal([]byte(input))
		require.NoError(t, os.WriteFile(filepath.Join(folder, corpus.Name(file)), file, 0o644))
	}
}

// TestEveryKindIsFiled runs inputs that fail in every way, of which three end
// their process. Each is filed once, with all that belongs to it, and the
// target that holds runs all the same.
func TestEveryKindIsFiled(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, parse, "Every", "Errors", "Panic", "Fatal", "Hang", "Memory")
	cfg := config(t, dir, parse, sound)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	found := 0
	cfg.Log = func(line string) {
		t.Log(line)
		if strings.Contains(line, "crashers") {
			found++
		}
		if found == 5 {
			stop()
		}
	}
	c, err := campaign.Open(t.Context(), cfg)
	require.NoError(t, err)
	_, err = campaign.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "another process works on this campaign")
	require.NoError(t, c.Run(ctx))
	require.NoError(t, c.Close())
	require.Equal(t, 5, found, "%s", outputs(t, dir))

	kinds := map[string]string{}
	folders, err := filepath.Glob(filepath.Join(dir, "crashers", "parse", "*"))
	require.NoError(t, err)
	for _, folder := range folders {
		kind, _, _ := strings.Cut(filepath.Base(folder), "-")
		small, err := os.ReadFile(filepath.Join(folder, "minimized"))
		require.NoError(t, err)
		kinds[kind] = string(small[:1]) // what else is left depends on how busy the machine is
		for _, name := range []string{"input", "output.txt", "verdict.json", "crasher.json", "reproduce.sh", "regression_test.go"} {
			require.FileExists(t, filepath.Join(folder, name), "%s", name)
		}
	}
	require.Equal(t, map[string]string{"error": "E", "panic": "P", "fatal": "F", "hang": "H", "memory": "M"}, kinds)
	require.NoDirExists(t, filepath.Join(dir, "crashers", "sound", "error"))
}

// outputs returns what is known of the crashers in dir.
func outputs(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "crashers", "*", "*", "output.txt"))
	require.NoError(t, err)
	var all strings.Builder
	for _, path := range paths {
		output, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(append(output[:min(len(output), 1500)], '\n'))
	}
	return all.String()
}
