package corpus_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/corpus"
)

// TestFormatsConvert takes inputs round through every format.
func TestFormatsConvert(t *testing.T) {
	want := [][]byte{{}, []byte("\x00\xff"), []byte("one"), []byte("two\n")}
	dir, inputs := t.TempDir(), append(want[:len(want):len(want)], want[1])
	for _, f := range []corpus.Format{corpus.Native, corpus.Raw, corpus.Zip, corpus.Native} {
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
	_, err := corpus.Native.Read(dir)
	require.ErrorContains(t, err, "holds no inputs")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "aa.output"), []byte("panic"), 0o644))
	_, err = corpus.Raw.Read(dir)
	require.ErrorContains(t, err, "holds no inputs", "what lies beside a crasher is none")
	_, err = corpus.Native.Read(dir)
	require.ErrorContains(t, err, "aa.output: want \"go test fuzz v1\"")
	_, err = corpus.Zip.Read(filepath.Join(dir, "aa.output"))
	require.ErrorContains(t, err, "not a valid zip file")
	_, err = corpus.ParseFormat("tar")
	require.ErrorContains(t, err, `unknown corpus format "tar"`)
}

func TestReadWorkdir(t *testing.T) {
	dir := t.TempDir()
	inputs, crashers, err := corpus.ReadWorkdir(dir)
	require.NoError(t, err)
	require.Empty(t, inputs)
	require.Empty(t, crashers)
	const name = "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"
	for path, text := range map[string]string{"corpus/" + name + "-1": "foo", "crashers/" + name: "bar", "crashers/" + name + ".output": "panic: no", "crashers/" + name + ".quoted": `"bar"`} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	inputs, crashers, err = corpus.ReadWorkdir(dir)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("foo")}, inputs)
	require.Equal(t, []corpus.Crasher{{Input: []byte("bar"), Output: "panic: no"}}, crashers)
}
