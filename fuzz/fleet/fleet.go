// Package fleet prepares and starts the coordinator and the workers of
// github.com/dvyukov/go-fuzz, so that many machines fuzz one target, and reads
// what they found. It has no protocol of its own.
//
// A coordinator's folder:
//
//	fleet.json    what is fuzzed, and the SHA-256 of the archive
//	archive.zip   the instrumented program, which every worker must have
//	go-fuzz       the engine
//	work/         corpus, crashers and suppressions, as go-fuzz keeps them
//
// Builds are not reproducible from machine to machine: the archive is copied,
// and a worker that is given another than the coordinator's is refused before
// it starts.
//
// # The connection
//
// Coordinator and workers speak net/rpc over TCP, in the clear and without
// authentication: who reaches the port reads the corpus and writes to it, and
// hands inputs to every worker. So the coordinator listens on the loopback
// interface unless told otherwise. Workers on other machines come through a
// tunnel that authenticates, such as ssh, from the worker's machine:
//
//	ssh -N -L 7070:127.0.0.1:7070 coordinator.example
//	sealab fuzz fleet worker 127.0.0.1:7070 --archive archive.zip --sha256 ...
//
// or listen on the address of a private network (WireGuard) where every peer is
// trusted with all of that.
package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sealab/internal/atomicfile"
)

// A Fleet is what a coordinator's folder is for.
type Fleet struct {
	Target   string `json:"target"`   // "text"
	Function string `json:"function"` // "FuzzText"
	Package  string `json:"package"`  // with the function, as func([]byte) int
	Tags     string `json:"tags,omitempty"`
	SHA256   string `json:"sha256"` // of the archive, in hexadecimal
}

// The files of a coordinator's folder.
const (
	manifestFile = "fleet.json"
	archiveFile  = "archive.zip"
	engineFile   = "go-fuzz"
	workFolder   = "work"
)

// Archive and Work are where the folder dir of a coordinator has the archive,
// and go-fuzz its files.
func Archive(dir string) string { return filepath.Join(dir, archiveFile) }
func Work(dir string) string    { return filepath.Join(dir, workFolder) }

// Read returns what the folder dir of a coordinator is for.
func Read(dir string) (Fleet, error) {
	var f Fleet
	path := filepath.Join(dir, manifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return f, fmt.Errorf("sealab: no fleet in %s: %w", dir, err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("sealab: %s: %w; want what a fleet fuzzes, as JSON", path, err)
	}
	return f, nil
}

func (f Fleet) write(dir string) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return atomicfile.Write(filepath.Join(dir, manifestFile), append(data, '\n'))
}

// CheckArchive returns an error unless the file at path has the SHA-256 want.
func CheckArchive(path, want string) error {
	got, err := digest(path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("sealab: %s has SHA-256 %s, want %q: copy the coordinator's archive", path, got, want)
	}
	return nil
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
