package targets

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sealab/fuzz/program"
	"sealab/internal/atomicfile"
)

// vectorsFolder is the folder of the committed vectors, relative to the module root.
const vectorsFolder = "vectors/files"

// A vectorFile holds the fields of a vector file (sealab-vectors/1) that seeds use.
type vectorFile struct {
	Design string       `json:"design"`
	Tests  []vectorTest `json:"tests"`
}

type vectorTest struct {
	Seed    hexBytes `json:"seed"`
	Payload hexBytes `json:"payload"`
	Claims  hexBytes `json:"claims"`
	Token   string   `json:"token"`
	Flags   []string `json:"flags"`
}

// longestSeedToken is the length in bytes of the longest token in seeds. Longer tokens cost
// more than they find.
const longestSeedToken = 2048

// distinct returns the tests with short tokens, one per set of flags.
func (f vectorFile) distinct() []vectorTest {
	var some []vectorTest
	seen := map[string]bool{}
	for _, t := range f.Tests {
		flags := strings.Join(t.Flags, " ")
		if seen[flags] || len(t.Token) > longestSeedToken {
			continue
		}
		seen[flags] = true
		some = append(some, t)
	}
	return some
}

// claims returns the claims of the distinct tests, without duplicates.
func (f vectorFile) claims() [][]byte {
	var all [][]byte
	for _, t := range f.distinct() {
		if len(t.Claims) > 0 && !slices.ContainsFunc(all, func(c []byte) bool { return bytes.Equal(c, t.Claims) }) {
			all = append(all, t.Claims)
		}
	}
	return all
}

// hexBytes is a byte string that is hexadecimal text in JSON.
type hexBytes []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *hexBytes) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	*h = b
	return err
}

// committedVectors returns the committed vectors by design name. An empty folder is an error.
var committedVectors = sync.OnceValues(readCommitted)

func readCommitted() (map[string]vectorFile, error) {
	root, err := program.ModuleRoot()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, vectorsFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]vectorFile{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		var f vectorFile
		if err := atomicfile.ReadJSON(filepath.Join(dir, e.Name()), &f, "vectors"); err != nil {
			return nil, err
		}
		all[f.Design] = f
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no vectors; want some for seeds", dir)
	}
	return all, nil
}
