// Package sdk finds the peers: implementations of a design in other
// languages, each in a folder of its own beside this file, which run as workers.
//
// A folder is a peer when it has a manifest, peer.json; one that is several has
// one each, called <which>.peer.json:
//
//	name     what it is called
//	mirrors  the design of the catalog that answers as it does, line by line
//	command  the worker's program and arguments, run in the folder
//	needs    files of the folder, or programs, that are there once it can run
//	install  the command that installs it, for a person to type
//
// An executable file install in the folder, where the peer is not a neighbour's
// installation put to another use, brings it in from its lock file, into a folder
// that the repository ignores. To add a peer, add its folder.
//
// A peer is somebody else's code and runs with the rights of the laboratory.
package sdk

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sealab/codecs/worker"
)

// A Peer is one manifest.
type Peer struct {
	Name    string   `json:"name"`
	Mirrors string   `json:"mirrors"`
	Args    []string `json:"command"`
	Needs   []string `json:"needs"`
	Install string   `json:"install"`

	dir string
}

// folder is the folder of the peers in the repository.
var folder = filepath.Join("codecs", "sdk")

// module is the line of go.mod by which the root of this module is known.
const module = "module sealab"

// Peers returns the peers of this module, sorted by folder. here is a folder of
// the module. No peer at all is an error.
//
// Manifests name programs, so that only those of this module count: the nearest
// go.mod above here must be the module's, and the current user must own it and
// the manifests.
func Peers(here string) ([]Peer, error) {
	root, err := moduleRoot(here)
	if err != nil {
		return nil, err
	}
	folders, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		return nil, fmt.Errorf("no peer: %w", err)
	}
	var peers []Peer
	for _, f := range folders {
		of, err := readFolder(filepath.Join(root, folder, f.Name()))
		if err != nil {
			return nil, err
		}
		peers = append(peers, of...)
	}
	if len(peers) == 0 {
		return nil, fmt.Errorf("no peer: there is no %s", filepath.Join(root, folder, "*", "peer.json"))
	}
	return peers, nil
}

// moduleRoot returns the root of this module, which holds the folder here.
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
				return "", fmt.Errorf("no peer: %s is not in this module: %s has no line %q", here, path, module)
			}
			return root, requireOwner(path)
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("no peer: %s is not in this module: neither it nor a folder above has a go.mod", here)
		}
		root = filepath.Dir(root)
	}
}

// readFolder reads the manifests of one folder, sorted by name.
func readFolder(dir string) ([]Peer, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil //nolint:nilerr // a file between the folders
	}
	var peers []Peer
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "peer.json") {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if err := requireOwner(path); err != nil {
			return nil, err
		}
		p, err := read(path)
		if err != nil {
			return nil, err
		}
		peers = append(peers, p)
	}
	return peers, nil
}

// Find returns the peer called name.
func Find(here, name string) (Peer, error) {
	peers, err := Peers(here)
	if err != nil {
		return Peer{}, err
	}
	var known []string
	for _, p := range peers {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Peer{}, fmt.Errorf("no peer %q; there are %s", name, strings.Join(known, ", "))
}

func read(path string) (Peer, error) {
	p := Peer{dir: filepath.Dir(path)}
	data, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("%w", err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	if p.Name == "" || p.Mirrors == "" || p.Install == "" || len(p.Args) == 0 {
		return p, fmt.Errorf("%s: name, mirrors, command and install must be there", path)
	}
	return p, nil
}

// Unavailable returns why the peer cannot be dialled, and the command that
// installs it; "" says that it can.
func (p Peer) Unavailable() string {
	missing := p.missing()
	if missing == "" {
		return ""
	}
	return fmt.Sprintf("there is no %s; install with: %s", missing, p.Install)
}

// missing returns what is not there that the peer needs, "" where all is.
func (p Peer) missing() string {
	for _, need := range p.Needs {
		if _, err := os.Stat(filepath.Join(p.dir, need)); err == nil {
			continue
		}
		if _, err := exec.LookPath(need); err != nil {
			return need
		}
	}
	return ""
}

// Dial starts the peer.
func (p Peer) Dial(limits worker.Limits) (*worker.Client, error) {
	if why := p.Unavailable(); why != "" {
		return nil, fmt.Errorf("peer %s is not installed: %s", p.Name, why)
	}
	return worker.Dial(worker.Command{Args: p.Args, Dir: p.dir}, limits)
}
