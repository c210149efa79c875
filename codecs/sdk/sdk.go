// Package sdk finds the SDKs and token libraries in other languages that run as
// workers. Each folder beside this file with a manifest, sdk.json, is a group
// of them:
//
//	command  the worker's program and arguments, run in the folder
//	needs    files of the folder, or programs, that are there if it can run
//	install  the command that installs it, for a person to type
//	sdks     the SDKs or libraries that the program serves, each with
//	  name       its name on the command line
//	  arguments  further arguments of the program
//	  needs      further needs
//	  version    the version that is pinned, which the worker states in its hello
//	  mirrors    the design of the catalog that gives the same answers
//	  agrees     the design, and its options, that gives the same verdicts and states;
//	             the reasons of refusals are the library's own. A library with neither
//	             is attacked, but neither compared nor measured. keys is "text" if the
//	             library takes passwords
//
// An executable named install in the folder installs them from a lock file,
// into a folder that the repository ignores. To add an SDK, add a folder or an
// entry.
//
// An SDK is foreign code. It runs with the rights of the current user.
package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sealab/codecs/worker"
)

// An SDK is an SDK or token library that runs as a worker.
type SDK struct {
	Name    string
	Mirrors string // the design of the catalog that gives the same answers, or ""
	Slower  int    // required ratio of the SDK's time to that of the design; 0: no threshold
	Agrees  Agreement
	Version string // the pinned version, or ""
	Args    []string
	Needs   []string
	Install string

	dir    string
	listed bool // in a manifest, so its worker uses the name in the manifest
}

// An Agreement names a design, with options, that gives the same verdicts and
// states as a library. The zero value names none.
type Agreement struct {
	Design  string            `json:"design"`
	Options map[string]string `json:"options"`
	Keys    string            `json:"keys"` // "text" if the library takes passwords
}

// A manifest is the content of an sdk.json.
type manifest struct {
	Command []string `json:"command"`
	Needs   []string `json:"needs"`
	Install string   `json:"install"`
	SDKs    []struct {
		Name      string    `json:"name"`
		Arguments []string  `json:"arguments"`
		Needs     []string  `json:"needs"`
		Version   string    `json:"version"`
		Mirrors   string    `json:"mirrors"`
		Slower    int       `json:"slower"`
		Agrees    Agreement `json:"agrees"`
	} `json:"sdks"`
}

// manifestName is the file name of a manifest.
const manifestName = "sdk.json"

// folder is the folder of the SDKs in the repository.
var folder = filepath.Join("codecs", "sdk")

// module is the line of go.mod that identifies this module.
const module = "module sealab"

// All returns the SDKs of this module, sorted by folder, in the order of each
// manifest. here is a folder of the module. It is an error if there are none.
//
// Manifests name programs to run, so only those of this module count. The
// nearest go.mod above here must be the module's, and the current user must own
// it and the manifests.
func All(here string) ([]SDK, error) {
	root, err := moduleRoot(here)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(escape(root), folder, "*", manifestName))
	if err != nil {
		return nil, err
	}
	var all []SDK
	known := map[string]string{}
	for _, path := range paths {
		group, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, s := range group {
			if known[s.Name] != "" {
				return nil, fmt.Errorf("%s: %q is also in %s", path, s.Name, known[s.Name])
			}
			known[s.Name] = path
		}
		all = append(all, group...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no SDK: there is no %s", filepath.Join(root, folder, "*", manifestName))
	}
	return all, nil
}

// Versions returns released versions of the SDKs of this module, from
// versions.json in the folder versions, which has the format of a manifest. A
// name is library@version.
func Versions(here string) ([]SDK, error) {
	root, err := moduleRoot(here)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root, folder, "versions", "versions.json")
	versions, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return versions, nil
}

// Mirrors returns the SDKs of this module that mirror a design.
func Mirrors(here string) ([]SDK, error) {
	all, err := All(here)
	return slices.DeleteFunc(all, func(s SDK) bool { return s.Mirrors == "" }), err
}

// Compared returns the SDKs of this module that mirror a design or agree with one.
func Compared(here string) ([]SDK, error) {
	all, err := All(here)
	return slices.DeleteFunc(all, func(s SDK) bool { return s.Mirrors == "" && s.Agrees.Design == "" }), err
}

// escape quotes the special characters of glob patterns.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// ErrOutside is the error for a folder outside this module.
var ErrOutside = errors.New("no SDK")

// moduleRoot returns the root of this module, which contains the folder here,
// or ErrOutside.
func moduleRoot(here string) (string, error) {
	root, err := filepath.Abs(here)
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(root, "go.mod")
		text, err := os.ReadFile(path)
		if err == nil {
			if !slices.Contains(strings.Split(string(text), "\n"), module) {
				return "", fmt.Errorf("%w: %s is not in a clone of sealab: %s has no line %q", ErrOutside, here, path, module)
			}
			return root, requireOwner(path)
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("%w: %s is not in a clone of sealab: neither it nor a folder above has a go.mod", ErrOutside, here)
		}
		root = filepath.Dir(root)
	}
}

// read reads the SDKs in a manifest.
func read(path string) ([]SDK, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	all := make([]SDK, len(m.SDKs))
	for i, s := range m.SDKs {
		if s.Name == "" {
			return nil, fmt.Errorf("sdks[%d]: want a name", i)
		}
		all[i] = SDK{
			Name: s.Name, Mirrors: s.Mirrors, Slower: s.Slower, Agrees: s.Agrees, Version: s.Version, Install: m.Install, dir: filepath.Dir(path), listed: true,
			Args: slices.Concat(m.Command, s.Arguments), Needs: slices.Concat(m.Needs, s.Needs),
		}
	}
	return all, nil
}

// decode decodes a JSON file, which the current user must own, and refuses
// unknown members.
func decode(path string, v any) error {
	if err := requireOwner(path); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func readManifest(path string) (m manifest, err error) {
	if err := decode(path, &m); err != nil {
		return m, err
	}
	if len(m.Command) == 0 || m.Install == "" || len(m.SDKs) == 0 {
		return m, errors.New("want command, install and sdks")
	}
	return m, nil
}

// Find returns the SDK with the given name.
func Find(here, name string) (SDK, error) {
	all, err := All(here)
	if err != nil {
		return SDK{}, err
	}
	var known []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return SDK{}, fmt.Errorf("no SDK %q; there are %s", name, strings.Join(known, ", "))
}

// Program returns the program of a group with other arguments than in the
// manifest. needs are further files that it needs.
func Program(here, group string, needs []string, arguments ...string) (SDK, error) {
	root, err := moduleRoot(here)
	if err != nil {
		return SDK{}, err
	}
	m, err := readManifest(filepath.Join(root, folder, group, manifestName))
	if err != nil {
		return SDK{}, err
	}
	return SDK{
		Name: group + " " + strings.Join(arguments, " "), Install: m.Install, dir: filepath.Join(root, folder, group),
		Args: slices.Concat(m.Command, arguments), Needs: slices.Concat(m.Needs, needs),
	}, nil
}

// Unavailable returns the reason why the SDK cannot be dialed, with the command
// that installs it, or "" if it is available.
func (s SDK) Unavailable() string {
	missing := s.missing()
	if missing == "" {
		return ""
	}
	return fmt.Sprintf("there is no %s; install with: %s", missing, s.Install)
}

// missing returns the first need that does not exist, or "".
func (s SDK) missing() string {
	for _, need := range s.Needs {
		if _, err := os.Stat(s.path(need)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := exec.LookPath(need); err != nil {
			return need
		}
	}
	return ""
}

// path returns the path of a file that the SDK needs.
func (s SDK) path(need string) string {
	if filepath.IsAbs(need) {
		return need
	}
	return filepath.Join(s.dir, need)
}

// Dial starts the SDK. Its worker uses the unique name from the manifest
// everywhere.
func (s SDK) Dial(limits worker.Limits) (*worker.Client, error) {
	if why := s.Unavailable(); why != "" {
		return nil, fmt.Errorf("SDK %s is not installed: %s", s.Name, why)
	}
	command := worker.Command{Args: s.Args, Dir: s.dir}
	if s.listed {
		command.Name = s.Name
	}
	return worker.Dial(command, limits)
}
