package campaign_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/campaign/report"
	"sealab/internal/testenv"
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

// skipShort skips a test that takes many seconds if -short is set.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		testenv.Skip(t, "-short: it takes many seconds")
	}
}

// addInputs adds inputs to the corpus of a target.
func addInputs(t *testing.T, dir string, target campaign.Target, inputs ...string) {
	t.Helper()
	folder := filepath.Join(dir, "corpus", target.Native)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, input := range inputs {
		file := harness.Marshal([]byte(input))
		require.NoError(t, os.WriteFile(filepath.Join(folder, harness.Name(file)), file, 0o644))
	}
}

// TestEveryKindIsFiled runs inputs with every kind of failure, three of which end their
// process. Each failure must be filed once with all its files, and the sound target must run as
// well.
func TestEveryKindIsFiled(t *testing.T) {
	skipShort(t)
	dir := t.TempDir()
	addInputs(t, dir, parse, "Every", "Errors", "Panic", "Fatal", "Hang", "Memory", "Cache", "Caches", "N", "D", "DD")
	cfg := config(t, dir, parse, sound)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	ways := map[string]bool{}
	cfg.Log = func(line string) {
		t.Log(line)
		if fields := strings.Fields(line); strings.Contains(line, "crashers") {
			ways[fmt.Sprint(fields[1], strings.Contains(line, "cache"), strings.Contains(line, "é"), strings.Contains(line, "D is"))] = true
		}
		if len(ways) == 8 {
			stop()
		}
	}
	c, err := campaign.Open(t.Context(), cfg)
	require.NoError(t, err)
	_, err = campaign.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "another process holds this campaign")
	require.NoError(t, c.Run(ctx))
	require.NoError(t, c.Close())
	require.Len(t, ways, 8, "%s", outputs(t, dir))

	kinds := map[string]string{}
	folders, err := filepath.Glob(filepath.Join(dir, "crashers", "parse", "*"))
	require.NoError(t, err)
	for _, folder := range folders {
		kind, _, _ := strings.Cut(filepath.Base(folder), "-")
		small, err := os.ReadFile(filepath.Join(folder, "minimized"))
		require.NoError(t, err)
		if first := string(small[:1]); !strings.Contains(kinds[kind], first) { // it shows in more than one way
			kinds[kind] += first
		}
		for _, name := range []string{"input", "output.txt", "failure.json", "crasher.json", "reproduce.sh", "regression_test.go"} {
			require.FileExists(t, filepath.Join(folder, name), "%s", name)
		}
	}
	kinds["error"] = strings.Join(slices.Sorted(strings.SplitSeq(kinds["error"], "")), "")
	require.Equal(t, map[string]string{"error": "CDEN", "panic": "P", "fatal": "F", "hang": "H", "memory": "M"}, kinds)
	status, err := report.ReadStatus(dir)
	require.NoError(t, err)
	for _, k := range status.Targets[0].Crashers {
		require.True(t, k.Complete, k.Text)
		if strings.Contains(k.Text, "D is wrong") {
			require.Subset(t, k.Designs, []string{"design-1", "design-2"})
		}
		if k.Kind == "error" {
			require.Empty(t, k.Unexplained, k.Text)
			require.Equal(t, !strings.Contains(k.Text, "from the cache"), k.Alone, k.Text)
		}
		// A process without memory fails in several ways, by chance.
		if !k.Alone && (k.Kind != "memory" || k.Unexplained == "") {
			requireReproducesInOrder(t, k)
		}
	}
	require.Empty(t, status.Targets[1].Crashers)
}

// requireReproducesInOrder runs a crasher that needs another input before its own.
func requireReproducesInOrder(t *testing.T, k campaign.FoundCrasher) {
	t.Helper()
	require.Equal(t, 1, k.After)
	require.Equal(t, "C", read(t, filepath.Join(k.Dir, "history", "000000")))
	require.Equal(t, "C", read(t, filepath.Join(k.Dir, "minimized")))
	require.NoFileExists(t, filepath.Join(k.Dir, "before"))
	require.Contains(t, read(t, filepath.Join(k.Dir, "regression_test.go")), "requirePasses(t, \"parse\",\n\t\t\"C\",\n\t\t\"C\")")
	output, err := exec.CommandContext(t.Context(), "sh", filepath.Join(k.Dir, "reproduce.sh")).CombinedOutput()
	require.Error(t, err, "%s", output)
	require.Contains(t, string(output), "is answered from the cache")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// outputs returns the outputs of the crashers in dir.
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

// TestResume repairs a folder after a kill or a disk fault. Intact files must stay, damaged
// ones must be moved away and named, and inputs that were running must run again.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	addInputs(t, dir, parse, "whole")
	torn := filepath.Join(dir, "corpus", parse.Native, "0123456789abcdef")
	write(t, torn, "go test fuzz v1\n[]byte(\"to")
	unfinished := filepath.Join(dir, "crashers", "parse", ".error-1.1", "input")
	write(t, unfinished, "E")
	unreadable := filepath.Join(dir, "crashers", "parse", "error-1")
	write(t, filepath.Join(unreadable, "input"), "E")
	write(t, filepath.Join(unreadable, "failure.json"), "{")
	running := append(binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 9), "Fatal\x05\x00\x00\x00"...)
	write(t, filepath.Join(dir, "scratch", "parse", "input-123"), string(running))
	running[8] = 8
	write(t, filepath.Join(dir, "scratch", "parse", "input-124"), string(append(running[:16:16], "slow\x04\x00\x00\x00"...)))
	write(t, filepath.Join(dir, "scratch", "parse", "crash-124"), "the input hangs for 5s\n")
	write(t, filepath.Join(dir, "journal.jsonl"), `{"time":"2026-11-20T10:00:00Z","event":"start"}`+"\n"+`{"time":"2026`)

	c, err := campaign.Open(t.Context(), config(t, dir, parse))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	status, err := report.ReadStatus(dir)
	require.NoError(t, err)
	require.Equal(t, 2, status.Targets[0].Corpus, "whole and slow")
	require.Len(t, status.Targets[0].Crashers, 1)
	require.EqualValues(t, "fatal", status.Targets[0].Crashers[0].Kind)
	notices := strings.Join(status.Notices, "\n")
	require.Contains(t, notices, "removed an incomplete last record of 13 bytes")
	require.Contains(t, notices, torn+" is damaged (its name is not the digest of its contents): moved to "+
		filepath.Join(dir, "damaged", "FuzzParse-0123456789abcdef"))
	require.Contains(t, notices, unreadable+" is damaged (failure.json: ")
	require.NoFileExists(t, unfinished)
	require.FileExists(t, filepath.Join(dir, "damaged", "parse-error-1", "input"))

	other := config(t, dir, parse)
	other.Tags = "other"
	_, err = campaign.Open(t.Context(), other)
	require.ErrorContains(t, err, "is a campaign on "+fixture+` with tags ""`)
}

// TestMinimizeAndCover checks that a minimized corpus has the same coverage and keeps every
// failing input.
func TestMinimizeAndCover(t *testing.T) {
	skipShort(t)
	testenv.SkipRace(t)
	dir := t.TempDir()
	addInputs(t, dir, sound, "()()", "(((((", "((((((((((((((((((((((((((((((((((((", "x", "y", "z", "(((((a", "(((((b")
	addInputs(t, dir, parse, "Every", "Fatal", "aa", "bb", "cc")
	c, err := campaign.Open(t.Context(), config(t, dir, sound, parse))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	before := covered(t, dir)
	require.Regexp(t, `fixture coverage: \d+\.\d% of statements`, before)

	_, err = campaign.Minimize(t.Context(), config(t, dir, sound), []string{"none"})
	require.ErrorContains(t, err, `target "none" never ran`)
	all, err := campaign.Minimize(t.Context(), config(t, dir, sound), nil)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, 8, all[0].Inputs)
	require.Less(t, all[0].Kept, 5)
	require.Positive(t, all[0].Kept)
	require.Positive(t, all[0].Features)
	require.Equal(t, before, covered(t, dir))
	for _, input := range []string{"Every", "Fatal"} {
		file := harness.Marshal([]byte(input))
		require.FileExists(t, filepath.Join(dir, "corpus", parse.Native, harness.Name(file)), input)
	}
}

// covered returns the coverage table of the corpora in dir.
func covered(t *testing.T, dir string) string {
	t.Helper()
	table, err := campaign.Cover(t.Context(), config(t, dir, sound), nil)
	require.NoError(t, err)
	return string(table)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestImport reruns the findings of another engine and files them.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	c, err := campaign.Open(t.Context(), config(t, dir, parse))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	n, err := c.Import(t.Context(), parse, [][]byte{[]byte("new"), []byte("new")},
		[]harness.Crasher{{Input: []byte("Every")}, {Input: []byte("holds"), Output: "it failed there"}, {Input: []byte("Errors")}})
	require.NoError(t, err)
	require.Equal(t, campaign.Imported{Inputs: 1, Buckets: 2}, n)
}
