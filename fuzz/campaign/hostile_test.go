package campaign

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
)

// hostileTexts are crash texts that once broke a source file, a script or a terminal.
var hostileTexts = []string{
	strings.Repeat("a", 199) + "é" + strings.Repeat("é", 100), // a character across byte 200
	"a NUL \x00 and a BOM \ufeff", "not UTF-8 \xff\xc3", "\x1b]0;title\a\x1b[2J", "a\rb\u2028c\u202ed", "*/ \" ` ' $(touch x)",
}

// TestRegressionTestOfHostileTexts checks that generated tests can be parsed.
func TestRegressionTestOfHostileTexts(t *testing.T) {
	for _, text := range hostileTexts {
		k := Crasher{Target: "text", Bucket: "error-0123456789", Kind: harness.KindError, Text: text}
		test, err := regressionTest(k, "targets", inputSequence{input: []byte(text)})
		require.NoError(t, err, "%q", text)
		_, err = parser.ParseFile(token.NewFileSet(), "", test, parser.ParseComments)
		require.NoError(t, err, "%s", test)
		script := reproductionScript(k, Target{Name: "text", Native: "FuzzText"}, "p", "", nil)
		require.Equal(t, 5, strings.Count(string(script), "\n"), "%s", script)
		for _, r := range OneLine(text) {
			require.True(t, r != 0 && r != '\x1b' && r != '\r' && r != '\ufeff' && r != '\u202e', "%q", text)
		}
	}
	_, err := regressionTest(Crasher{Bucket: "a b"}, "p", inputSequence{})
	require.ErrorContains(t, err, "the regression test of a b")
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain é\nline": "plain é\nline", "\x1b[2J": `\x1b[2J`, "\x00": `\x00`, "\ufeff\u202e": `\ufeff\u202e`, "\xff\ufffd": `\xff` + "\ufffd",
	} {
		require.Equal(t, want, Printable(text))
	}
}

// TestOneLine checks that quoted tokens are shortened and the message is kept.
func TestOneLine(t *testing.T) {
	token := `"v1.` + strings.Repeat("A", 300) + `"`
	require.Equal(t, `a check fails: aes-256-gcm: "v1.AAAAAAAAAAAAAAAAAAAAA..." opens to "short"`, OneLine("a check fails: aes-256-gcm: "+token+` opens to "short"`+"\nmore"))
	require.Equal(t, strings.Repeat("é", maxLine)+"...", OneLine(strings.Repeat("é", maxLine+1)))
}

// TestManifestRefuses checks that names are refused that would leave the folder or be a flag of
// the go command.
func TestManifestRefuses(t *testing.T) {
	good := Manifest{Package: "sealab/fuzz/targets", Replay: "./replay", Cover: "sealab/codecs/...,golang.org/x/crypto/...", Tags: "a,b", Targets: []Target{{"text", "FuzzText"}}}
	require.NoError(t, good.check())
	for name, change := range map[string]func(*Manifest){
		"target":  func(m *Manifest) { m.Targets = []Target{{"../../escape-me", "FuzzText"}} },
		"native":  func(m *Manifest) { m.Targets = []Target{{"text", "../FuzzText"}} },
		"package": func(m *Manifest) { m.Package = "-toolexec=evil.sh" },
		"empty":   func(m *Manifest) { m.Package = "" },
		"replay":  func(m *Manifest) { m.Replay = "-toolexec=evil.sh" },
		"cover":   func(m *Manifest) { m.Cover = "sealab/codecs/...,-toolexec=evil.sh" },
		"tags":    func(m *Manifest) { m.Tags = "a -toolexec=evil.sh" },
	} {
		m := good
		change(&m)
		require.Error(t, m.check(), name)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, manifestFile), []byte(`{"package":"-toolexec=evil.sh"}`), 0o644))
	_, err := ReadManifest(dir)
	require.ErrorContains(t, err, `package "-toolexec=evil.sh": want a pattern`)
	_, err = Cover(t.Context(), Config{Dir: dir, Package: "p"}, nil)
	require.ErrorContains(t, err, `package "-toolexec=evil.sh": want a pattern`)
}

// TestBrackets uses a campaign folder whose name has brackets, beside a campaign that matches
// this name as a pattern of filepath.Glob.
func TestBrackets(t *testing.T) {
	target := Target{"text", "FuzzText"}
	root := t.TempDir()
	named, sibling := folder(filepath.Join(root, "run[12]")), folder(filepath.Join(root, "run1"))
	for _, f := range []folder{named, sibling} {
		require.NoError(t, f.make([]Target{target}))
		for _, path := range []string{f.path("scratch", "job-1"), f.path("corpus", "FuzzText", ".half"), f.path("crashers", "text", ".half")} {
			require.NoError(t, os.MkdirAll(path, 0o755))
		}
		require.NoError(t, os.MkdirAll(f.path("scratch", "text", "testdata", "fuzz", "FuzzText"), 0o755))
		require.NoError(t, os.WriteFile(f.path("scratch", "text", "testdata", "fuzz", "FuzzText", "1"), []byte("go test fuzz v1\n[]byte(\"a\")\n"), 0o644))
		require.NoError(t, harness.File(f.crashers("text"), []byte("a"), nil, &harness.Failure{Kind: harness.KindError, Bucket: "error-1"}))
	}
	require.NoError(t, named.clear())
	require.NoDirExists(t, named.path("scratch", "job-1"))
	require.NoDirExists(t, named.path("corpus", "FuzzText", ".half"))
	require.NoDirExists(t, named.path("crashers", "text", ".half"))
	require.DirExists(t, sibling.path("scratch", "job-1"))
	require.DirExists(t, sibling.path("corpus", "FuzzText", ".half"))
	suspects, notices := named.suspects(target)
	require.Empty(t, notices)
	require.Len(t, suspects, 1)
	found, err := ReadCrashers(string(named), target)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.False(t, found[0].Complete)
}

// TestReadCrasherDamaged checks that a damaged crasher is shown with the reason.
func TestReadCrasherDamaged(t *testing.T) {
	f, target := folder(t.TempDir()), Target{"text", "FuzzText"}
	require.NoError(t, os.MkdirAll(f.path("crashers", "text", "error-1"), 0o755))
	found, err := ReadCrashers(string(f), target)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Text, "unreadable: ")
}
