package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var buildRelease = flag.Bool("release", false, "build the release for all platforms, twice; takes minutes")

// lintDockerfile returns the faults of a Dockerfile: base images without a fixed
// tag, stages that are not there, a last stage that runs as root, and commands that
// need a shell.
func lintDockerfile(text string) (faults []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	stages, user := map[string]bool{}, ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "FROM":
			user = ""
			if _, tag, _ := strings.Cut(words[1], ":"); tag == "" || tag == "latest" {
				fault("FROM %s: want a fixed tag", words[1])
			}
			if len(words) == 4 {
				stages[words[3]] = true
			}
		case "COPY":
			if from, ok := strings.CutPrefix(words[1], "--from="); ok && !stages[from] {
				fault("COPY --from=%s: want a stage above", from)
			}
		case "USER":
			user = words[1]
		case "ENTRYPOINT", "CMD":
			if !strings.HasPrefix(words[1], "[") {
				fault("%s: want the form with brackets, which needs no shell", words[0])
			}
		case "RUN", "WORKDIR", "ENV", "ARG", "LABEL":
		default:
			fault("%s: want another instruction", words[0])
		}
	}
	if user == "" || user == "root" || user == "0" {
		fault("USER %q: want a user in the last stage", user)
	}
	return faults
}

func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	require.NoError(t, err)
	require.Empty(t, lintDockerfile(string(text)))
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))
	require.Contains(t, string(text), "FROM golang:"+version[1]+"-")
	require.Len(t, lintDockerfile("FROM golang\nADD x y\nCOPY --from=none a b\nENTRYPOINT sh\nUSER root\n"), 5)
}

// TestExampleJob takes every call of the command in the example job apart.
func TestExampleJob(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".ci", "attack-a-worker.yml"))
	require.NoError(t, err)
	var job struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run, Uses string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &job))
	var calls [][]string
	for _, step := range job.Jobs["attack"].Steps {
		script := strings.ReplaceAll(step.Run, "\\\n", " ")
		for line := range strings.Lines(script) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " > ")
			if call, ok := strings.CutPrefix(line, `"$RUNNER_TEMP/bin/sealab" `); ok {
				calls = append(calls, words(call))
			}
		}
	}
	require.Len(t, calls, 2)
	for _, call := range calls {
		require.NoError(t, taken(call), "%q", call)
	}
	require.Contains(t, string(text), "upload-sarif")
}

// TestRelease refuses a version that is not semantic. With -release it builds all
// archives twice and compares them.
func TestRelease(t *testing.T) {
	script := filepath.Join("..", "..", ".ci", "release")
	for _, wrong := range []string{"", "1.0.0", "v1.0", "v1.0.0 "} {
		out, err := exec.Command(script, wrong).CombinedOutput()
		require.Error(t, err, wrong)
		require.Contains(t, string(out), "want ", wrong)
	}
	if !*buildRelease {
		return
	}
	build := func(out string) map[string][32]byte {
		cmd := exec.Command(script, "v0.0.0-test")
		cmd.Env = append(os.Environ(), "OUT="+out)
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
		sums := map[string][32]byte{}
		files, err := filepath.Glob(filepath.Join("..", "..", out, "*"))
		require.NoError(t, err)
		for _, path := range files {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			sums[filepath.Base(path)] = sha256.Sum256(data)
		}
		return sums
	}
	first := build("bin/release-first")
	require.Greater(t, len(first), 4)
	require.Equal(t, first, build("bin/release-second"))
}
