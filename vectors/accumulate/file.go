package accumulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"sealab/internal/atomicfile"
)

// Path is where the digests of all designs are committed, from the root of the
// module.
const Path = "vectors/accumulated.json"

// A File holds the digests of every design, by name.
type File map[string]Digests

// Read reads the digests at path; where nothing is, there are none.
func Read(path string) (File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	f := File{}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", path, err)
	}
	return f, nil
}

// Write writes the digests to path.
func (f File) Write(path string) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return atomicfile.Write(path, append(data, '\n'))
}

// Renew puts fresh digests of a design in the place of the old ones. Digests of
// more inputs than fresh has are kept while the others are unchanged: the
// stream begins in the same way.
func (f File) Renew(design string, fresh Digests) {
	kept := maps.Clone(f[design])
	for count, digest := range fresh {
		if was, ok := kept[count]; ok && was != digest {
			f[design] = fresh
			return
		}
	}
	if kept == nil {
		kept = Digests{}
	}
	maps.Copy(kept, fresh)
	f[design] = kept
}

// Differs compares fresh digests of a design with those in the file: "" where
// all are there and the same.
func (f File) Differs(design string, fresh Digests) string {
	for count, digest := range fresh {
		if was := f[design][count]; was != digest {
			return fmt.Sprintf("%s: the digest over %d inputs is %s, committed is %q", design, count, digest, was)
		}
	}
	return ""
}
