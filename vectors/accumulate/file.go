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

// Path is the committed file of all digests, relative to the module root.
const Path = "vectors/accumulated.json"

// A File maps the name of each design to its digests.
type File map[string]Digests

// Read reads the digests at path. If the file does not exist, Read returns an
// empty File.
func Read(path string) (File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return nil, err
	}
	f := File{}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Write writes the digests to path.
func (f File) Write(path string) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'))
}

// Renew replaces the digests of a design by fresh ones. The stream begins in
// the same way for all numbers of inputs. Digests of more inputs than fresh has
// are therefore kept if the others are unchanged.
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

// Differs describes how fresh digests of a design differ from the file. It
// returns "" if the file holds them all.
func (f File) Differs(design string, fresh Digests) string {
	for count, digest := range fresh {
		if was := f[design][count]; was != digest {
			return fmt.Sprintf("%s: the digest over %d inputs is %s, committed is %q", design, count, digest, was)
		}
	}
	return ""
}
