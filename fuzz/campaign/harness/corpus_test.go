package harness_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
)

func TestRoundTrip(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, input := range [][]byte{{}, []byte("plain"), []byte("\"quoted\"\n\xff`"), every, bytes.Repeat([]byte{0}, 5000)} {
		got, err := harness.Unmarshal(harness.Marshal(input))
		require.NoError(t, err)
		require.Equal(t, input, got)
	}
}

// TestName compares a name with the one that the go command uses.
func TestName(t *testing.T) {
	require.Equal(t, "caf81e9797b19c76", harness.Name([]byte("go test fuzz v1\n[]byte(\"\")\n")))
}

func TestUnmarshalRefuses(t *testing.T) {
	whole := harness.Marshal([]byte("abc"))
	for _, file := range []string{"", "go test fuzz v1\n", "go test fuzz v2\n[]byte(\"a\")\n", "go test fuzz v1\nstring(\"a\")\n",
		"go test fuzz v1\n[]byte(\"a\")\n[]byte(\"b\")\n", string(whole[:len(whole)-3])} {
		_, err := harness.Unmarshal([]byte(file))
		require.Error(t, err, "%q", file)
	}
}

// TestFormatsConvert converts inputs through every format and back.
func TestFormatsConvert(t *testing.T) {
	want := [][]byte{{}, []byte("\x00\xff"), []byte("one"), []byte("two\n")}
	dir, inputs := t.TempDir(), append(want[:len(want):len(want)], want[1])
	for _, f := range []harness.Format{harness.Native, harness.Raw, harness.Zip, harness.Native} {
		path := filepath.Join(dir, string(f))
		require.NoError(t, f.Write(path, inputs))
		got, err := f.Read(path)
		require.NoError(t, err)
		require.Equal(t, want, got, "%s", f)
		inputs = got
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := harness.Native.Read(dir)
	require.ErrorContains(t, err, "holds no inputs")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "aa.output"), []byte("panic"), 0o644))
	_, err = harness.Raw.Read(dir)
	require.ErrorContains(t, err, "holds no inputs", "what lies beside a crasher is none")
	_, err = harness.Native.Read(dir)
	require.ErrorContains(t, err, "aa.output: want \"go test fuzz v1\"")
	_, err = harness.Zip.Read(filepath.Join(dir, "aa.output"))
	require.ErrorContains(t, err, "not a valid zip file")
	_, err = harness.ParseFormat("tar")
	require.ErrorContains(t, err, `unknown corpus format "tar"`)
}

func TestReadWorkdir(t *testing.T) {
	dir := t.TempDir()
	inputs, crashers, err := harness.ReadWorkdir(dir)
	require.NoError(t, err)
	require.Empty(t, inputs)
	require.Empty(t, crashers)
	const name = "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"
	for path, text := range map[string]string{"corpus/" + name + "-1": "foo", "crashers/" + name: "bar", "crashers/" + name + ".output": "panic: no", "crashers/" + name + ".quoted": `"bar"`} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	inputs, crashers, err = harness.ReadWorkdir(dir)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("foo")}, inputs)
	require.Equal(t, []harness.Crasher{{Input: []byte("bar"), Output: "panic: no"}}, crashers)
}
