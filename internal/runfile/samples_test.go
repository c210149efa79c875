package runfile_test

import (
	"crypto/sha256"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
)

func someSamples() *runfile.Samples {
	return &runfile.Samples{
		Header: runfile.Header{
			Probe: runfile.Probe{Subject: "control +10 ns", Pair: "tag-ends", A: "first", B: "last", Expect: runfile.Leaks, Channel: "process"},
			Pass:  2, Blocks: 3, Ops: 4, Cluster: 1, ClockNs: 21.5, Seed: 7, Stamp: map[string]string{"goarch": "amd64"},
		},
		Data: []runfile.Block{{A: 1, B: 2}, {A: math.MaxUint32, B: 0, BFirst: true}, {A: 0, B: math.MaxUint32}},
	}
}

func TestSamplesAreReadBack(t *testing.T) {
	dir := t.TempDir()
	want := someSamples()
	require.NoError(t, runfile.WriteSamples(dir, want))
	got, err := runfile.ReadSamples(filepath.Join(dir, "control-+10-ns.tag-ends.2.samples"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	all, err := runfile.ReadSampleFiles(dir)
	require.NoError(t, err)
	require.Equal(t, []*runfile.Samples{want}, all)
}

func TestFolderWithoutSamples(t *testing.T) {
	dir := t.TempDir()
	_, err := runfile.ReadSampleFiles(dir)
	require.ErrorContains(t, err, dir)
}

// TestDamageIsFound truncates a file at every length and changes each of its bytes.
func TestDamageIsFound(t *testing.T) {
	data, err := runfile.EncodeSamples(someSamples())
	require.NoError(t, err)
	for i := range data {
		_, err := runfile.ParseSamples(data[:i])
		require.Error(t, err, "cut after %d bytes", i)
		data[i] ^= 1
		_, err = runfile.ParseSamples(data)
		require.Error(t, err, "byte %d changed", i)
		data[i] ^= 1
	}
	_, err = runfile.ParseSamples(data)
	require.NoError(t, err)
}

// TestLiesWithARightChecksumAreFound parses files with a valid checksum and impossible content.
func TestLiesWithARightChecksumAreFound(t *testing.T) {
	data, err := runfile.EncodeSamples(someSamples())
	require.NoError(t, err)
	body := data[:len(data)-sha256.Size]
	head := len("sealab samples 1\n")
	for name, lie := range map[string]func([]byte) []byte{
		"header too long": func(b []byte) []byte { b[head+3] = 0x7f; return b },
		"header no JSON":  func(b []byte) []byte { b[head+4] = 'x'; return b },
		"block missing":   func(b []byte) []byte { return b[:len(b)-5] },
		"block too many":  func(b []byte) []byte { return append(b, 1, 1) },
	} {
		text := lie(append([]byte(nil), body...))
		sum := sha256.Sum256(text)
		path := filepath.Join(t.TempDir(), "lie"+runfile.SamplesExtension)
		require.NoError(t, os.WriteFile(path, append(text, sum[:]...), 0o644))
		_, err := runfile.ReadSamples(path)
		require.ErrorContains(t, err, path, name)
	}
}

func TestHeaderMustCount(t *testing.T) {
	f := someSamples()
	f.Blocks = 4
	require.Error(t, runfile.WriteSamples(t.TempDir(), f))
}
