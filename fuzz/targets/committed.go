package targets

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sealab/fuzz/campaign/harness"
)

// vectorsFolder is where the committed vectors lie, from the root of the module.
const vectorsFolder = "vectors/files"

// A vectorFile is what seeds take from a file of vectors (sealab-vectors/1).
type vectorFile struct {
	Design string       `json:"design"`
	Tests  []vectorTest `json:"tests"`
}

type vectorTest struct {
	Seed    hexed    `json:"seed"`
	Payload hexed    `json:"payload"`
	Claims  hexed    `json:"claims"`
	Token   string   `json:"token"`
	Flags   []string `json:"flags"`
}

// longest is the longest token that is taken for a seed, in bytes:
// what fuzzing makes of a long one costs more than it finds.
const longest = 2048

// distinct returns of the tests those with short tokens, one for each set of
// flags.
func (f vectorFile) distinct() []vectorTest {
	var some []vectorTest
	seen := map[string]bool{}
	for _, t := range f.Tests {
		flags := strings.Join(t.Flags, " ")
		if seen[flags] || len(t.Token) > longest {
			continue
		}
		seen[flags] = true
		some = append(some, t)
	}
	return some
}

// claims returns the claims of the distinct tests, each once.
func (f vectorFile) claims() [][]byte {
	var all [][]byte
	for _, t := range f.distinct() {
		if len(t.Claims) > 0 && !slices.ContainsFunc(all, func(c []byte) bool { return bytes.Equal(c, t.Claims) }) {
			all = append(all, t.Claims)
		}
	}
	return all
}

// hexed is bytes that JSON writes as hexadecimal digits.
type hexed []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *hexed) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	*h = b
	return err
}

// committed returns the committed vectors by design. That there are none is an
// error: seeds would be poor and nobody would know.
var committed = sync.OnceValues(readCommitted)

func readCommitted() (map[string]vectorFile, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(root, vectorsFolder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("sealab: %s holds no vectors to take seeds from", filepath.Join(root, vectorsFolder))
	}
	all := map[string]vectorFile{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("sealab: %w", err)
		}
		var f vectorFile
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, fmt.Errorf("sealab: %s: %w", path, err)
		}
		all[f.Design] = f
	}
	return all, nil
}

// moduleRoot returns the folder of go.mod, above the working folder or, in a
// campaign, whose processes work elsewhere, above the source.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	if source := os.Getenv(harness.EnvSource); source != "" {
		dir = source
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", errors.New("sealab: the working folder is not inside the module, whose vectors are the seeds")
		}
		dir = filepath.Dir(dir)
	}
}
