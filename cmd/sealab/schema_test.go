package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"sealab/analysis/choice"
	"sealab/analysis/findings"
	"sealab/analysis/identify"
	"sealab/analysis/throughput"
	"sealab/analysis/timing"
	"sealab/cmd/sealab/internal/designs"
	"sealab/cmd/sealab/internal/fuzz"
	"sealab/cmd/sealab/internal/measure"
	"sealab/cmd/sealab/internal/tokens"
	"sealab/codecs/catalog"
	"sealab/fuzz/campaign/report"
	"sealab/internal/cli"
	"sealab/internal/schema"
	"sealab/internal/testenv"
	"sealab/vectors/mutate"
)

var updateSchemas = flag.Bool("update-schemas", false, "write the schemas of the JSON outputs again")

// schemaDir is the folder of the schemas of outputs, next to that of vectors.
var schemaDir = filepath.Join("..", "..", "vectors", "schemas")

// jsonOutputs maps schema names to the outputs of --json.
var jsonOutputs = map[string]func() (*jsonschema.Schema, error){
	"list":        inferred[[]designs.Document],
	"design":      inferred[designs.Document],
	"choose":      inferred[choice.Answer],
	"inspect":     inferred[[]tokens.Anatomy],
	"report":      inferred[throughput.ReportDocument],
	"compare":     inferred[throughput.CompareDocument],
	"outcomes":    inferred[cli.Outcomes],
	"fuzz-status": inferred[report.Status],
	"version":     inferred[versionDocument],
	"identify":    inferred[[]identify.Answer],
	"formats":     inferred[measure.FormatsDocument],
	"sdks":        inferred[designs.SDKsDocument],
	"leak-probe":  inferred[measure.ProbeDocument],
	"leak-judge":  inferred[timing.Document],
	"leak-taint":  inferred[measure.TaintDocument],
	"questions":   inferred[cli.QuestionsDocument],
	"minimize":    inferred[fuzz.MinimizeDocument],
	"cover":       inferred[fuzz.CoverDocument],
}

// schemaOf maps each command with --json to its schema.
var schemaOf = map[string]string{
	"sealab list": "list", "sealab choose": "choose", "sealab inspect": "inspect",
	"sealab bench": "report", "sealab report": "report", "sealab bench report": "report", "sealab compare": "compare", "sealab bench compare": "compare",
	"sealab attack": "outcomes", "sealab review": "outcomes", "sealab replay": "outcomes", "sealab vectors verify": "outcomes",
	"sealab differential": "outcomes", "sealab fuzz differential": "outcomes",
	"sealab cve run": "outcomes", "sealab fuzz versions": "outcomes", "sealab vectors mutate": "outcomes", "sealab leak recover": "outcomes",
	"sealab leak probe": "leak-probe", "sealab leak judge": "leak-judge", "sealab leak taint": "leak-taint", "sealab leak report": findingsSchema,
	"sealab fuzz minimize": "minimize", "sealab fuzz cover": "cover", "sealab fuzz run": "fuzz-status", "sealab fuzz import": "fuzz-status",
	"sealab fuzz status": "fuzz-status", "sealab version": "version",
	"sealab identify": "identify", "sealab compare-formats": "formats",
}

func inferred[T any]() (*jsonschema.Schema, error) { return jsonschema.For[T](nil) }

// TestSchemas compares the types of the outputs with their committed schemas. A
// change that an older reader cannot read needs a new version in the name.
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

// findingsSchema is the name of the schema of findings, which package findings
// provides.
const findingsSchema = "findings"

// withoutJSON maps the commands without a report to a description of their
// output.
var withoutJSON = map[string]string{
	"sealab cve install": "folders", "sealab docs": "pages", "sealab site": "pages", "sealab fuzz report": "files", "sealab fuzz fleet": "programs",
	"sealab fuzz corpus convert": "files", "sealab fuzz corpus seeds": "files", "sealab seal": "a token", "sealab unseal": "a payload",
	"sealab serve": "a protocol", "sealab worker": "a protocol",
	"sealab vectors generate": "files", "sealab vectors export": "files", "sealab vectors dist": "files",
}

// TestEveryJSONHasASchema checks that each command either has --json and a
// schema or is in withoutJSON.
func TestEveryJSONHasASchema(t *testing.T) {
	all := commands(newRoot())
	bench, _, err := newRoot().Find([]string{"bench"})
	require.NoError(t, err)
	seen := 0
	for _, cmd := range append(all, bench) {
		if instead, ok := withoutJSON[cmd.CommandPath()]; ok {
			require.Nil(t, cmd.Flags().Lookup("json"), "%s writes %s", cmd.CommandPath(), instead)
			seen++
			continue
		}
		require.NotNil(t, cmd.Flags().Lookup("json"), "%s has no --json", cmd.CommandPath())
		name := schemaOf[cmd.CommandPath()]
		require.True(t, jsonOutputs[name] != nil || name == findingsSchema, "%s --json has no schema", cmd.CommandPath())
		seen++
	}
	require.Equal(t, len(withoutJSON)+len(schemaOf), seen, "a row names a command that is gone")
}

// formOf returns the published schema of an output.
func formOf(t *testing.T, name string) *schema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(schemaDir, name+".json"))
	require.NoError(t, err)
	return schema.New("urn:sealab:"+name+":1", text)
}

// anyStatus accepts any exit status, for commands whose outcome depends on the
// machine.
const anyStatus = -1

// validate runs a command and validates its output against a schema.
func validate(t *testing.T, name, stdin string, status int, args ...string) []byte {
	t.Helper()
	var out, errs strings.Builder
	got := run(args, strings.NewReader(stdin), &out, &errs)
	require.True(t, got == status || status == anyStatus, "%v: status %d, want %d: %s", args, got, status, errs.String())
	form := formOf(t, name)
	require.NoError(t, form.Validate([]byte(out.String())), "%v: %.500s", args, out.String())
	require.Error(t, form.Validate([]byte(`{"unknown": 1}`)), "%s accepts anything", name)
	return []byte(out.String())
}

// TestJSONOutputs validates one output of every command against its schema.
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
	validate(t, "questions", "", 0, "attack", "--list", "--json")
	validate(t, "questions", "", 0, "review", "--list", "--json")
	validate(t, "report", "", 0, "bench", "--subject", design, "--op", "seal", "--size", "64", "--rounds", "6", "--cell", "1ms", "--out", dir, "--json", "--quiet")

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

// TestSDKsJSON validates the list of SDKs against its schema. It starts each of them.
func TestSDKsJSON(t *testing.T) {
	testenv.SkipShort(t)
	validate(t, "sdks", "", 0, "list", "--sdks", "--json")
}

// TestLeakJSON validates the outputs of the leak commands against their
// schemas. The outcomes depend on this machine and its load, so the run may be
// void.
func TestLeakJSON(t *testing.T) {
	testenv.SkipShort(t)
	dir := filepath.Join(t.TempDir(), "run")
	validate(t, "leak-probe", "", 0, "leak", "probe", "--subject", catalog.All()[0].Name, "--blocks", "300", "--budget", "2ms", "--json", dir)
	validate(t, "leak-judge", "", anyStatus, "leak", "judge", "--json", dir)

	var out, errs strings.Builder
	require.Zero(t, run([]string{"leak", "report", "--json", dir}, strings.NewReader(""), &out, &errs), errs.String())
	_, err := findings.Read([]byte(out.String()))
	require.NoError(t, err, "findings have a schema of their own")
	validate(t, "outcomes", "", 2, "leak", "recover", "--samples", "1", "--json")

	logs := filepath.Join("..", "..", "analysis", "taint", "testdata")
	judged := filepath.Join(t.TempDir(), "logs")
	require.NoError(t, os.CopyFS(judged, os.DirFS(logs)))
	validate(t, "leak-taint", "", anyStatus, "leak", "taint", "--judge-only", "--json", judged)
}

// TestDocumentsOfLongRuns validates the outputs of commands that take minutes
// or need other programs against their schemas, using results made here.
func TestDocumentsOfLongRuns(t *testing.T) {
	conform := func(name string, document any) {
		t.Helper()
		text, err := json.Marshal(document)
		require.NoError(t, err)
		require.NoError(t, formOf(t, name).Validate(text), "%s", text)
	}
	asked := cli.Outcomes{Format: cli.OutcomesFormat, Command: "sealab"}
	mark := &mutate.Mark{File: "a.go", Line: 9, Reason: "no way"}
	check := mutate.Result{Check: mutate.Check{File: "a.go", Line: 3, Func: "f", Text: "x", Mark: mark}}
	(&mutate.Summary{Guarded: 7, Open: []mutate.Result{check}, Excused: []mutate.Result{check}, Stale: []*mutate.Mark{mark}}).Ask(asked.Ask)
	conform("outcomes", asked)
	var counts []bool
	for _, q := range asked.Questions {
		counts = append(counts, q.Counts)
	}
	require.Equal(t, []bool{false, true, false, true}, counts, "guarded, unguarded, excused, stale")
}

// TestReference checks that exactly the visible commands have a page.
func TestReference(t *testing.T) {
	root, shown := newRoot(), map[string]*cobra.Command{}
	addShown(shown, root)
	for _, format := range []string{"man", "markdown"} {
		files, err := referencePages(root, format)
		require.NoError(t, err)
		for path, cmd := range shown {
			name := strings.ReplaceAll(path, " ", "-") + map[string]string{"man": ".1", "markdown": ".md"}[format]
			require.Contains(t, string(files[name]), cmd.Short, name)
		}
		require.Len(t, files, len(shown))
	}
	pages, err := sitePages(root)
	require.NoError(t, err)
	require.Equal(t, len(shown), len(pages))
	for _, p := range pages {
		require.Contains(t, shown, p.Name)
	}
	_, err = referencePages(root, "html")
	require.ErrorContains(t, err, "want man or markdown")
}

// addShown adds the visible commands by name, including groups and root.
func addShown(shown map[string]*cobra.Command, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	shown[cmd.CommandPath()] = cmd
	for _, sub := range cmd.Commands() {
		addShown(shown, sub)
	}
}

// TestCompletion checks the completion of names of designs, attacks and
// formats.
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
