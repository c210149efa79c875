package gofuzz

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/testenv"
)

var runSeconds = flag.String("libfuzzer", "", "build every target with clang's libFuzzer, and run it for so many seconds")

// folder holds the build files of OSS-Fuzz.
var folder = filepath.Join("..", "..", "oss-fuzz")

// TestBuildScript runs build.sh with a compiler that records its arguments. Each target must
// get a program and a seed corpus.
func TestBuildScript(t *testing.T) {
	if testing.Short() {
		testenv.Skip(t, "-short: it builds the command and the seeds of every target")
	}
	testenv.SkipRace(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "compile_go_fuzzer"), []byte("#!/bin/sh -eu\nprintf '%s %s\\n' \"$1\" \"$2\" >\"$OUT/$3\"\n"), 0o755))
	out := build(t, bin)
	for function, name := range listed(t) {
		program, err := os.ReadFile(filepath.Join(out, "fuzz_"+name))
		require.NoError(t, err)
		require.Equal(t, "sealab/fuzz/targets/gofuzz "+function+"\n", string(program))
		seeds, err := harness.Zip.Read(filepath.Join(out, "fuzz_"+name+"_seed_corpus.zip"))
		require.NoError(t, err)
		require.NotEmpty(t, seeds)
	}
}

// TestLibFuzzer builds and runs every target as OSS-Fuzz does.
func TestLibFuzzer(t *testing.T) {
	if *runSeconds == "" {
		testenv.Skip(t, "building every target takes minutes: make libfuzzer")
	}
	if _, err := exec.LookPath("clang"); err != nil {
		testenv.Skip(t, "clang is not installed")
	}
	here, err := filepath.Abs(folder)
	require.NoError(t, err)
	out := build(t, here)
	for _, name := range listed(t) {
		seeds, err := harness.Zip.Read(filepath.Join(out, "fuzz_"+name+"_seed_corpus.zip"))
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, harness.Raw.Write(dir, seeds))
		output, err := exec.Command(filepath.Join(out, "fuzz_"+name), "-max_total_time="+*runSeconds, "-artifact_prefix="+dir+"/", dir).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, output)
		require.Regexp(t, `Done \d+ runs`, string(output), name)
		t.Logf("%s: %s", name, regexp.MustCompile(`Done .*`).Find(output))
	}
}

// build runs build.sh with the commands in folder bin and returns the path OUT.
func build(t *testing.T, bin string) string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "fuzz/oss-fuzz/build.sh")
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "OUT="+out, "WORK="+t.TempDir(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return out
}

// listed returns the target names by function name.
func listed(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "targets"))
	require.NoError(t, err)
	all := map[string]string{}
	for line := range strings.Lines(string(data)) {
		function, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		require.True(t, ok, line)
		all[function] = name
	}
	require.NotEmpty(t, all)
	return all
}

func TestProjectFile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(folder, "project.yaml"))
	require.NoError(t, err)
	var project struct {
		Homepage, Language string
		Contact            string   `yaml:"primary_contact"`
		Repository         string   `yaml:"main_repo"`
		Engines            []string `yaml:"fuzzing_engines"`
		Sanitizers         []string
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&project))
	require.Equal(t, "go", project.Language)
	require.Equal(t, []string{"libfuzzer"}, project.Engines)
	require.NotEmpty(t, project.Contact)
}

// TestDockerfile checks that the Dockerfile uses the Go version of go.mod.
func TestDockerfile(t *testing.T) {
	docker, err := os.ReadFile(filepath.Join(folder, "Dockerfile"))
	require.NoError(t, err)
	module, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	image := regexp.MustCompile(`(?m)^FROM golang:(\d+\.\d+)`).FindSubmatch(docker)
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	require.NotNil(t, image)
	require.NotNil(t, wanted)
	require.Equal(t, string(wanted[1]), string(image[1]))
}

func TestScripts(t *testing.T) {
	for _, check := range [][]string{{"bash", "-n"}, {"shellcheck"}} {
		t.Run(check[0], func(t *testing.T) {
			if _, err := exec.LookPath(check[0]); err != nil {
				testenv.Skip(t, "%s is not installed", check[0])
			}
			for _, script := range []string{"build.sh", "compile_go_fuzzer"} {
				out, err := exec.Command(check[0], append(check[1:], filepath.Join(folder, script))...).CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
		})
	}
}

// TestRun runs simple inputs, and checks that a failure panics.
func TestRun(t *testing.T) {
	require.Zero(t, FuzzText(nil))
	require.Zero(t, FuzzJson([]byte("{}")))
	require.Panics(t, func() { run("no such target", nil) })
}
