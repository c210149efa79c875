package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"sealab/internal/testenv"
)

var buildRelease = flag.Bool("release", false, "build the release for all platforms, twice; takes minutes")

// lintDockerfile returns the faults of a Dockerfile: base images without a
// fixed tag, missing stages, a last stage that runs as root, and commands that
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

// TestExampleJob parses every call of the command in the example job.
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

// TestRelease checks that a version that is not semantic is refused. With
// -release it builds all archives of the last commit in two folders and
// compares them.
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
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "a folder with another name")
	releaseOf(t, filepath.Join("..", ".."), first)
	releaseOf(t, first, second)
	built := filepath.Join("bin", "release")
	sums := digests(t, filepath.Join(first, built))
	require.Greater(t, len(sums), 4)
	require.Equal(t, sums, digests(t, filepath.Join(second, built)))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		t.Logf("%x %s", sums[name], name)
	}
	archives, err := filepath.Glob(filepath.Join(first, built, "sealab-v0.0.0-test-*-*64.tar.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, archive := range archives {
		platform := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(archive), "sealab-v0.0.0-test-"), ".tar.gz")
		t.Run(platform, func(t *testing.T) { startArchive(t, archive, platform) })
	}
}

// releaseOf clones the last commit of a source into a folder and builds the release
// there.
func releaseOf(t *testing.T, source, folder string) {
	t.Helper()
	out, err := exec.Command("git", "clone", "-q", "--shared", source, folder).CombinedOutput()
	require.NoError(t, err, "%s", out)
	start := time.Now()
	out, err = exec.Command(filepath.Join(folder, ".ci", "release"), "v0.0.0-test").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s\n%v", out, time.Since(start).Round(time.Second))
}

// digests returns the SHA-256 of each file of a folder.
func digests(t *testing.T, folder string) map[string][32]byte {
	t.Helper()
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	sums := map[string][32]byte{}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		sums[file.Name()] = sha256.Sum256(data)
	}
	return sums
}

// emulators maps platforms to programs that run their commands.
var emulators = map[string][]string{
	"linux-amd64":   {"qemu-x86_64-static", "qemu-x86_64"},
	"linux-arm64":   {"qemu-aarch64-static", "qemu-aarch64"},
	"windows-amd64": {"wine64", "wine", "/usr/lib/wine/wine64"},
}

// startArchive unpacks an archive and starts its command, if necessary under an
// emulator. It skips the test if the emulator is missing.
func startArchive(t *testing.T, archive, platform string) {
	folder := t.TempDir()
	out, err := exec.Command("tar", "-xzf", archive, "-C", folder, "--strip-components=1").CombinedOutput()
	require.NoError(t, err, "%s", out)
	var call []string
	if platform != runtime.GOOS+"-"+runtime.GOARCH {
		for _, name := range emulators[platform] {
			if path, err := exec.LookPath(name); err == nil {
				call = []string{path}
				break
			}
		}
		if call == nil {
			testenv.Skip(t, "there is no emulator of %s on this machine: %s", platform, strings.Join(emulators[platform], ", "))
		}
	}
	binary := filepath.Join(folder, "sealab")
	if strings.HasPrefix(platform, "windows-") {
		binary += ".exe"
	}
	call = append(call, binary)
	start := func(args ...string) string {
		args = append(call[1:len(call):len(call)], args...)
		cmd := exec.CommandContext(t.Context(), call[0], args...)
		cmd.Env = append(os.Environ(), "WINEDEBUG=-all", "WINEPREFIX="+folder)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if strings.Contains(stderr.String(), "bcryptprimitives.dll") {
			testenv.Skip(t, "the emulator %s has no bcryptprimitives.dll, which Go needs", call[0])
		}
		require.NoError(t, err, "%q: %s%s", cmd.Args, stdout.String(), stderr.String())
		return stdout.String()
	}
	version := start("--version")
	require.Contains(t, version, "v0.0.0-test")
	require.Contains(t, version, strings.Replace(platform, "-", "/", 1))
	require.Contains(t, start("list"), "aes-256-gcm")
}
