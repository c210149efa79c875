package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"sealab/analysis/choice"
	"sealab/analysis/identify"
	"sealab/analysis/throughput"
	"sealab/codecs/catalog"
	"sealab/fuzz/campaign/report"
	"sealab/internal/schema"
)

var updateSchemas = flag.Bool("update-schemas", false, "write the schemas of the JSON outputs again")

// schemaDir is where the schemas of outputs are published, beside that of vectors.
var schemaDir = filepath.Join("..", "..", "vectors", "schemas")

// jsonOutputs are the outputs of --json by the name of their schema.
var jsonOutputs = map[string]func() (*jsonschema.Schema, error){
	"list":        inferred[[]description],
	"design":      inferred[description],
	"choose":      inferred[choice.Answer],
	"inspect":     inferred[[]anatomy],
	"report":      inferred[throughput.ReportDocument],
	"compare":     inferred[throughput.CompareDocument],
	"outcomes":    inferred[outcomes],
	"fuzz-status": inferred[report.Status],
	"version":     inferred[versionDocument],
	"identify":    inferred[[]identify.Answer],
	"formats":     inferred[world],
}

// schemaOf names the schema of each command that has --json.
var schemaOf = map[string]string{
	"sealab list": "list", "sealab choose": "choose", "sealab inspect": "inspect",
	"sealab report": "report", "sealab bench report": "report", "sealab compare": "compare", "sealab bench compare": "compare",
	"sealab attack": "outcomes", "sealab review": "outcomes", "sealab replay": "outcomes", "sealab vectors verify": "outcomes",
	"sealab differential": "outcomes", "sealab fuzz differential": "outcomes",
	"sealab fuzz status": "fuzz-status", "sealab version": "version",
	"sealab identify": "identify", "sealab compare-formats": "formats",
}

func inferred[T any]() (*jsonschema.Schema, error) { return jsonschema.For[T](nil) }

// TestSchemas holds the types of the outputs to their committed schemas. A change
// that an older reader cannot read needs a new version in the name.
func TestSchemas(t *testing.T) {
	for name, infer := range jsonOutputs {
		s, err := infer()
		require.NoError(t, err, name)
		s.Schema, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", "urn:sealab:"+name+":1", "Output of sealab with --json: "+name
		text, err := json.MarshalIndent(s, "", "  ")
		require.NoError(t, err)
		path := filepath.Join(schemaDir, name+".json")
		if *updateSchemas {
			require.NoError(t, os.MkdirAll(schemaDir, 0o755))
			require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
		}
		committed, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(committed), string(text)+"\n", "%s: go test ./cmd/sealab -run TestSchemas -args -update-schemas", name)
	}
}

// withoutSchema are the commands whose JSON may still change.
var withoutSchema = []string{"sealab identify", "sealab compare-formats"}

// TestEveryJSONHasASchema ranges over the tree of commands.
func TestEveryJSONHasASchema(t *testing.T) {
	for _, cmd := range commands(newRoot()) {
		if cmd.Flags().Lookup("json") != nil && !slices.Contains(withoutSchema, cmd.CommandPath()) {
			require.NotNil(t, jsonOutputs[schemaOf[cmd.CommandPath()]], "%s --json has no schema", cmd.CommandPath())
		}
	}
}

// validate runs a command and holds its output to a schema.
func validate(t *testing.T, name, stdin string, status int, args ...string) []byte {
	t.Helper()
	var out, errs strings.Builder
	require.Equal(t, status, run(args, strings.NewReader(stdin), &out, &errs), "%v: %s", args, errs.String())
	text, err := os.ReadFile(filepath.Join(schemaDir, name+".json"))
	require.NoError(t, err)
	form := schema.New("urn:sealab:"+name+":1", text)
	require.NoError(t, form.Validate([]byte(out.String())), "%v: %.500s", args, out.String())
	require.Error(t, form.Validate([]byte(`{"unknown": 1}`)), "%s accepts anything", name)
	return []byte(out.String())
}

// TestJSONOutputs holds one output of every command to its schema.
func TestJSONOutputs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	design := catalog.All()[0].Name
	vectorFile := filepath.Join("..", "..", "vectors", "files", design+".json")
	digests := filepath.Join("..", "..", "vectors", "accumulated.json")
	runs := filepath.Join("..", "..", "results", "bench", "2*")
	found, err := filepath.Glob(runs)
	require.NoError(t, err)
	newest := found[len(found)-1]
	old := write("old.txt", strings.Repeat("BenchmarkSeal 1000 100 ns/op\n", 6))
	slower := write("slower.txt", strings.Repeat("BenchmarkSeal 1000 110 ns/op\n", 6))
	write("campaign.json", `{"package":"sealab/fuzz/targets","targets":[{"name":"text","native":"FuzzText"}]}`)
	write("journal.jsonl", "")

	validate(t, "version", "", 0, "version", "--json")
	validate(t, "list", "", 0, "list", "--holds", "key-committing", "--json")
	validate(t, "design", "", 0, "list", design, "--json")
	validate(t, "choose", "", 0, "choose", "--json")
	validate(t, "inspect", "sh1.foMHpHsic3RlcCI6MX13iG1TivIp3yLNDLXs-xQmtcD7DBNPrjDQmQ8aTUk3Dg", 0, "inspect", "--json")
	validate(t, "identify", "", 0, "identify", "Fe26.2*1*00*aOZLCKLhCt0D5IU1qLTtYw*g0ilNDlQ3TsdFUqJCqAm9iL7Wa60H7eYcHL_5oP136TOJREkS3BzheDC1dlxz5oJ**00*R8yscVdTBRMdsoVbdDiFmUL8zb-c3PQLGJn4Y8C-AqI", "--json")
	validate(t, "formats", "", 0, "compare-formats", "--rounds", "6", "--json", design)
	validate(t, "report", "", 0, "report", newest, "--json")
	validate(t, "compare", "", 1, "compare", old, slower, "--json")
	validate(t, "fuzz-status", "", 0, "fuzz", "status", "--dir", dir, "--json")

	attacked := validate(t, "outcomes", "", 0, "attack", design, "--only", "ENC-01", "--json")
	require.Contains(t, string(attacked), `"not refuted"`, "outcomes, and not findings alone")
	validate(t, "outcomes", "", 0, "vectors", "verify", vectorFile, "--digests", digests, "--json")
	cases, err := filepath.Glob(filepath.Join("testdata", "verdicts", "*.jsonl"))
	require.NoError(t, err)
	line, err := os.ReadFile(cases[0])
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(line), "\n")
	validate(t, "outcomes", "", 0, "replay", write("one.jsonl", first+"\n"), "--json")
}

// TestReference finds a page for every command that the help shows, and no other.
func TestReference(t *testing.T) {
	root := newRoot()
	for _, format := range []string{"man", "markdown"} {
		files, err := reference(root, format)
		require.NoError(t, err)
		shown := 0
		var walk func(cmd *cobra.Command)
		walk = func(cmd *cobra.Command) {
			if cmd.Hidden {
				return
			}
			shown++
			name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + map[string]string{"man": ".1", "markdown": ".md"}[format]
			require.Contains(t, string(files[name]), cmd.Short, name)
			for _, sub := range cmd.Commands() {
				walk(sub)
			}
		}
		walk(root)
		require.Len(t, files, shown)
	}
	_, err := reference(root, "html")
	require.ErrorContains(t, err, "want man or markdown")
}

// TestCompletion completes names of the catalog, of attacks and of formats.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"list ":            catalog.All()[0].Name,
		"seal aes-256-g":   "aes-256-gcm",
		"fuzz run te":      "text",
		"attack --only TA": "TAG",
		"attack --format ": "sarif",
		"choose --need ":   "integrity",
		"bench --op ":      "unseal",
		"review --checks ": "RS-TAMPER",
		"fuzz status --d":  "--dir",
	} {
		var out, errs strings.Builder
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		require.Zero(t, run(args, strings.NewReader(""), &out, &errs), errs.String())
		require.Contains(t, out.String(), want, line)
	}
}
