package gofuzz

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"sealab/fuzz/gofuzz/preserve"
	"sealab/fuzz/target"
	"sealab/internal/testenv"
)

const ossFuzz = "../oss-fuzz/"

// TestLibFuzzerBuildsEveryTarget holds build.sh to the targets that need no
// other program.
func TestLibFuzzerBuildsEveryTarget(t *testing.T) {
	script, err := os.ReadFile(ossFuzz + "build.sh")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?m)^targets="(.*)"$`).FindSubmatch(script)
	require.NotNil(t, list)
	var want []string
	for _, target := range target.All() {
		if target.Missing == nil {
			want = append(want, strings.TrimPrefix(target.NativeName(), "Fuzz"))
			require.NotContains(t, target.Name, "-", "build.sh writes names in lower case")
		}
	}
	require.ElementsMatch(t, want, strings.Fields(string(list[1])))
}

func TestProjectFile(t *testing.T) {
	data, err := os.ReadFile(ossFuzz + "project.yaml")
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

// TestDockerfileHasTheGoOfTheModule holds the image's Go to go.mod's.
func TestDockerfileHasTheGoOfTheModule(t *testing.T) {
	docker, err := os.ReadFile(ossFuzz + "Dockerfile")
	require.NoError(t, err)
	module, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	image := regexp.MustCompile(`(?m)^FROM golang:(\d+\.\d+)`).FindSubmatch(docker)
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	require.NotNil(t, image)
	require.NotNil(t, wanted)
	require.Equal(t, string(wanted[1]), string(image[1]))
}

func TestBuildScript(t *testing.T) {
	for _, check := range [][]string{{"bash", "-n"}, {"shellcheck"}} {
		t.Run(check[0], func(t *testing.T) {
			if _, err := exec.LookPath(check[0]); err != nil {
				testenv.Skip(t, "%s is not on this machine", check[0])
			}
			out, err := exec.Command(check[0], append(check[1:], ossFuzz+"build.sh")...).CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

// TestFunctionsRun runs the empty input of each target in the form that go-fuzz
// and libFuzzer call.
func TestFunctionsRun(t *testing.T) {
	for _, fuzz := range []func([]byte) int{FuzzText, FuzzInside, FuzzClaims, FuzzRelations, FuzzSequences, FuzzContexts, FuzzReadings, FuzzRemote, FuzzPrimitives, FuzzJson, FuzzServing} {
		require.Zero(t, fuzz(nil))
	}
	require.Panics(t, func() { run("no such target", nil) })
}

// TestMakefilePreserves holds the Makefile's list to the one here.
func TestMakefilePreserves(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	require.Contains(t, string(makefile), "\nPRESERVE := "+preserve.Packages+"\n")
}
