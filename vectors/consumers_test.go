package vectors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/testenv"
	"sealab/vectors"
)

// consumer is a program in one folder of consumers that reads vectors in its language.
type consumer struct {
	name    string
	program string   // programs that must be installed; "|" separates alternatives
	needs   string   // file that `make consumers` installs in the folder; "" if none
	designs []string // the files that it reads

	slow bool // each run takes seconds, because it compiles the program or reads many tests
}

var consumers = []consumer{
	{"typescript", "node", "node_modules/@modelcontextprotocol/server", []string{"mcp-ts"}, true},
	{"python", "python3", ".venv/installed", []string{"mcp-py"}, true},
	{"hpke", "python3", ".venv/installed", []string{"hpke-psk", "hpke-session"}, true},
	{"claims", "python3", "", []string{"hmac-sha256-claims"}, false},
	{"rust", "cargo", "target/debug", []string{"hmac-sha256", "aes-256-gcm", "xchacha20-poly1305"}, true},
	{"java", "javac", "", []string{"hmac-sha256", "aes-256-gcm", "fernet-0x80", "jwe-dir-a256gcm", "jwe-dir-a128cbc-hs256"}, true},
	{"csharp", "dotnet|mcs", "", []string{"fernet-0x80", "jwe-dir-a128cbc-hs256"}, true},
	{"ruby", "ruby", "", []string{"hmac-sha256", "aes-256-gcm", "mcp-rb"}, false},
}

// maxLines is the most lines that the programs of a consumer may have, so that a person can read them in a
// quarter of an hour.
const maxLines = 200

func TestEveryConsumerIsTested(t *testing.T) {
	runs, err := filepath.Glob("consumers/*/run")
	require.NoError(t, err)
	var names []string
	for _, c := range consumers {
		names = append(names, filepath.Join("consumers", c.name, "run"))
	}
	require.ElementsMatch(t, names, runs)
}

// TestConsumers runs every consumer twice. It must agree with the committed vectors. In vectors with one
// spoiled test of each kind, it must name the spoiled tests.
func TestConsumers(t *testing.T) {
	for _, c := range consumers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !slices.ContainsFunc(strings.Split(c.program, "|"), onPath) {
				testenv.Skip(t, "there is no %s", c.program)
			}
			if _, err := os.Stat(filepath.Join("consumers", c.name, c.needs)); err != nil {
				testenv.Skip(t, "%s is not installed: run make consumers", c.needs)
			}
			if c.slow {
				testenv.SkipShort(t)
			}
			out, err := c.run(t, "files")
			require.NoError(t, err, "%s", out)

			folder, wrong := c.spoiled(t)
			out, err = c.run(t, folder)
			require.Error(t, err, "%s", out)
			for _, id := range wrong {
				require.Contains(t, string(out), id)
			}
		})
	}
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// TestLanguages compares the languages in the rows of the designs with the consumers.
func TestLanguages(t *testing.T) {
	languages := map[string][]string{}
	for _, c := range consumers {
		language := map[string]string{"hpke": "python", "claims": "python"}[c.name]
		if language == "" {
			language = c.name
		}
		for _, design := range c.designs {
			languages[design] = append(languages[design], language)
		}
	}
	for _, d := range catalog.All() {
		facts := lab.HooksOf(d).Facts
		if facts == nil || d.IsScheme() {
			continue
		}
		require.ElementsMatch(t, languages[d.Name], facts.Languages, d.Name)
	}
}

func (c *consumer) run(t *testing.T, folder string) ([]byte, error) {
	t.Helper()
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	run, err := filepath.Abs(filepath.Join("consumers", c.name, "run"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), run)
	cmd.Env = append(os.Environ(), "VECTORS="+folder)
	return cmd.CombinedOutput()
}

// spoiled writes the consumer's files with one test of each kind spoiled, and returns their ids.
func (c *consumer) spoiled(t *testing.T) (folder string, ids []string) {
	t.Helper()
	folder = t.TempDir()
	for _, design := range c.designs {
		f, err := vectors.Read(vectors.Path("files", design))
		require.NoError(t, err)
		for _, s := range spoilings {
			i := slices.IndexFunc(f.Tests, func(t vectors.Test) bool {
				// The consumer may test a lenient reading of its library.
				return s.fits(&t) && len(t.Readings) == 0 && !slices.Contains(ids, t.ID)
			})
			require.GreaterOrEqual(t, i, 0, "%s: no test to spoil: %s", design, s.name)
			s.spoil(&f.Tests[i])
			ids = append(ids, f.Tests[i].ID)
		}
		data, err := f.Encode()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(vectors.Path(folder, design), data, 0o644))
	}
	return folder, ids
}

// A spoiling makes a test wrong in one way.
type spoiling struct {
	name  string
	fits  func(*vectors.Test) bool
	spoil func(*vectors.Test)
}

var spoilings = []spoiling{
	{"an acceptance that should be a refusal", accepted, func(t *vectors.Test) {
		t.Expect, t.Stage, t.Released = vectors.Refuse, "malformed", nil
	}},
	{"a refusal that should be an acceptance", refusedAt("malformed"), func(t *vectors.Test) {
		t.Expect, t.Stage, t.Released = vectors.Accept, "", vectors.AsHex(nil)
	}},
	{"another payload", accepted, func(t *vectors.Test) { t.Released = vectors.AsHex([]byte("another")) }},
	{"another stage than malformed", refusedAt("malformed"), func(t *vectors.Test) { t.Stage = "unauthentic" }},
	{"another stage than unauthentic", refusedAt("unauthentic"), func(t *vectors.Test) { t.Stage = "malformed" }},
}

func accepted(t *vectors.Test) bool { return t.Expect == vectors.Accept }

func refusedAt(stage string) func(*vectors.Test) bool {
	return func(t *vectors.Test) bool { return t.Expect == vectors.Refuse && t.Stage == stage }
}

func TestConsumersAreShort(t *testing.T) {
	for _, pattern := range []string{"*/*.py", "*/*.mjs", "*/*.rb", "*/*.java", "*/*.cs", "rust/*/*.rs"} {
		paths, err := filepath.Glob("consumers/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Less(t, countLines(data), maxLines, path)
		}
	}
}

func countLines(data []byte) int {
	n := 0
	for _, b := range data {
		if b == '\n' {
			n++
		}
	}
	return n
}
