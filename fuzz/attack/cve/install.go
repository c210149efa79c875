package cve

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sealab/codecs/sdk"
	"sealab/codecs/worker"
)

// locks holds the files that pin the versions. pypi.txt has a pip requirement per package. The
// npm lock file has a separate name for each version.
//
//go:embed locks
var locks embed.FS

// versions returns the one or two versions of a case.
func (c Case) versions() []string {
	if c.Fixed == "" {
		return []string{c.Vulnerable}
	}
	return []string{c.Vulnerable, c.Fixed}
}

// folder returns the folder of a version, relative to the module root. For Go it is the path of
// the worker.
func (c Case) folder(version string) string {
	name := c.Library[strings.LastIndex(c.Library, ":")+1:] + "-" + version
	switch c.Ecosystem {
	case "npm":
		return filepath.Join("bin", "cve", "npm", "node_modules", name)
	case "PyPI":
		return filepath.Join("bin", "cve", "pypi", name)
	}
	return filepath.Join("bin", "cve", strings.ToLower(c.Ecosystem), name)
}

// shims maps ecosystems to the folders of codecs/sdk whose programs load the libraries.
var shims = map[string]string{"PyPI": "py-libs", "npm": "js-libs", "Maven": "java-libs", "Go": "go-libs"}

// dial starts the worker of a version.
func (c Case) dial(root, version string, limits worker.Limits) (*worker.Client, error) {
	p, folder, err := c.program(root, version)
	if err != nil {
		return nil, err
	}
	if c.Ecosystem == "Go" {
		return worker.Dial(worker.Command{Args: []string{folder}}, limits)
	}
	return p.Dial(limits)
}

// program returns the worker of a version, and its folder. For Go, the folder is the worker and
// p is zero.
func (c Case) program(root, version string) (p sdk.SDK, folder string, err error) {
	folder, err = filepath.Abs(filepath.Join(root, c.folder(version)))
	if err == nil && c.Ecosystem != "Go" {
		p, err = sdk.Program(root, shims[c.Ecosystem], []string{folder}, c.Row, folder)
	}
	return p, folder, err
}

// Unavailable returns the reason why a case cannot be attacked, or "".
func (c Case) Unavailable(root string) string {
	for _, version := range c.versions() {
		p, folder, err := c.program(root, version)
		if err != nil {
			return err.Error()
		}
		if _, err := os.Stat(folder); err != nil || p.Unavailable() != "" {
			return fmt.Sprintf("%s %s is not installed: sealab cve install", c.Library, version)
		}
	}
	return ""
}

// Install installs the missing versions of the cases below root. If a tool is missing, it
// prints the version as skipped.
func Install(root string, cases []Case, out io.Writer) error {
	npm := false
	for _, c := range cases {
		for _, version := range c.versions() {
			if _, err := os.Stat(filepath.Join(root, c.folder(version))); err == nil {
				continue
			}
			if c.Ecosystem == "npm" {
				npm = true
				continue
			}
			install := map[string]func(Case, string, string, io.Writer) error{"PyPI": Case.pip, "Maven": Case.maven, "Go": Case.build}[c.Ecosystem]
			if err := install(c, root, version, out); err != nil {
				return err
			}
		}
	}
	if npm {
		return installNPM(root, out)
	}
	return nil
}

// pip installs one version from PyPI with the Python of the shim.
func (c Case) pip(root, version string, out io.Writer) error {
	python, err := filepath.Abs(filepath.Join(root, "codecs", "sdk", shims["PyPI"], ".venv", "bin", "python"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(python); err != nil {
		fmt.Fprintf(out, "skipped: %s %s: the token libraries in Python are not installed: make sdks\n", c.Library, version)
		return nil
	}
	var lines strings.Builder
	for _, name := range append([]string{c.Library + "==" + version}, c.With...) {
		line, err := pinned("pypi.txt", name)
		if err != nil {
			return err
		}
		lines.WriteString(line + "\n")
	}
	folder := filepath.Join(root, c.folder(version))
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(folder), ".install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary) //nolint:errcheck // a temporary folder
	requirements := filepath.Join(temporary, "requirements.txt")
	if err := os.WriteFile(requirements, []byte(lines.String()), 0o644); err != nil {
		return err
	}
	if err := run(root, python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes",
		"--target", filepath.Join(temporary, "packages"), "-r", requirements); err != nil {
		return fmt.Errorf("installing %s %s: %w", c.Library, version, err)
	}
	fmt.Fprintf(out, "installed %s %s\n", c.Library, version)
	return os.Rename(filepath.Join(temporary, "packages"), folder)
}

// maven installs the jars of one version if their hashes are as pinned.
func (c Case) maven(root, version string, out io.Writer) error {
	if _, err := exec.LookPath("mvn"); err != nil {
		fmt.Fprintf(out, "skipped: %s %s: there is no mvn\n", c.Library, version)
		return nil
	}
	folder, err := filepath.Abs(filepath.Join(root, c.folder(version)))
	if err != nil {
		return err
	}
	temporary := folder + ".install"
	if err := errors.Join(os.RemoveAll(temporary), os.MkdirAll(temporary, 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(temporary) //nolint:errcheck // a temporary folder
	for _, name := range append([]string{c.Library + ":" + version}, c.With...) {
		line, err := pinned("maven.txt", name)
		if err != nil {
			return err
		}
		if err := run(temporary, "mvn", "-q", "-B", "dependency:copy", "-Dartifact="+name, "-DoutputDirectory="+temporary); err != nil {
			return fmt.Errorf("installing %s: %w", name, err)
		}
		parts := strings.Split(name, ":")
		jar, err := os.ReadFile(filepath.Join(temporary, parts[1]+"-"+parts[2]+".jar"))
		if err != nil {
			return err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(jar)); !strings.HasSuffix(line, " "+got) {
			return fmt.Errorf("installing %s: its SHA-256 is %s, want %s", name, got, line)
		}
	}
	fmt.Fprintf(out, "installed %s %s\n", c.Library, version)
	return os.Rename(temporary, folder)
}

// build builds the worker of one version of a Go module with its own go.mod.
func (c Case) build(root, version string, out io.Writer) error {
	folder, err := filepath.Abs(filepath.Join(root, c.folder(version)))
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "sealab-cve-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary) //nolint:errcheck // a temporary folder
	for _, ext := range []string{".mod", ".sum"} {
		text, err := locks.ReadFile("locks/go/" + c.Library + "-" + version + ext)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(temporary, "go"+ext), text, 0o644); err != nil {
			return err
		}
	}
	shim := filepath.Join(root, "codecs", "sdk", shims["Go"])
	if err := run(shim, "go", "build", "-modfile", filepath.Join(temporary, "go.mod"), "-tags", c.Row, "-buildvcs=false", "-o", folder, "."); err != nil {
		return fmt.Errorf("building %s %s: %w", c.Library, version, err)
	}
	fmt.Fprintf(out, "installed %s %s\n", c.Library, version)
	return nil
}

// pinned returns the line for a package in a lock file.
func pinned(file, name string) (string, error) {
	text, err := locks.ReadFile("locks/" + file)
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), name+" ") {
			return lines.Text(), nil
		}
	}
	return "", fmt.Errorf("locks/%s has no %s", file, name)
}

// installNPM installs all npm versions together.
func installNPM(root string, out io.Writer) error {
	if _, err := exec.LookPath("npm"); err != nil {
		fmt.Fprintln(out, "skipped: the versions from npm: there is no npm")
		return nil
	}
	folder := filepath.Join(root, "bin", "cve", "npm")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := locks.ReadFile("locks/npm/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	if err := run(folder, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"); err != nil {
		return fmt.Errorf("installing from npm: %w", err)
	}
	fmt.Fprintln(out, "installed the versions from npm")
	return nil
}

// run runs a program in a directory.
func run(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if err != nil {
		return errors.Join(err, errors.New(strings.TrimSpace(string(text))))
	}
	return nil
}
