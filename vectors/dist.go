package vectors

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// An Index lists the contents of an archive.
type Index struct {
	Format  string            `json:"format"`
	Version string            `json:"version"`
	License string            `json:"license"`
	Tests   map[string]int    `json:"tests"`  // number of tests by design
	SHA256  map[string]string `json:"sha256"` // of every other file, by path
}

// root is the top-level folder of an archive.
const root = "sealab-vectors"

// An entry is one file of an archive.
type entry struct {
	path string
	data []byte
}

// mode returns the file's permissions. The program of a consumer is named run
// and is executable.
func (e *entry) mode() int64 {
	if path.Base(e.path) == "run" {
		return 0o755
	}
	return 0o644
}

// Dist returns a gzipped tar archive of the vectors below dir, with their schema and pages, the
// accumulated digests, the license and an index. dir is the module's folder vectors. The output depends
// only on the files, because archives carry no times, owners or machine names.
func Dist(dir, version string) ([]byte, error) {
	index := Index{
		Format: Format, Version: version, License: License,
		Tests: map[string]int{}, SHA256: map[string]string{},
	}
	entries, err := collect(dir, &index)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		index.SHA256[e.path] = hex.EncodeToString(sum[:])
	}
	data, err := json.MarshalIndent(index, "", " ")
	if err != nil {
		return nil, err
	}
	return pack(append(entries, entry{"index.json", append(data, '\n')}))
}

// collect reads the files of an archive.
func collect(dir string, index *Index) ([]entry, error) {
	entries := []entry{{"LICENSE", []byte(license)}, {"VERSION", []byte(index.Version + "\n")}, {"schema.json", Schema}}
	for _, name := range []string{"README.md", "LAYOUTS.md", "accumulated.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name, data})
	}
	paths, err := Paths(filepath.Join(dir, "files"))
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		f, err := Read(p)
		if err != nil {
			return nil, err
		}
		index.Tests[f.Design] = f.NumberTests
		forms, err := inEveryForm(f)
		if err != nil {
			return nil, err
		}
		entries = append(entries, forms...)
	}
	consumers, err := consumers(filepath.Join(dir, "consumers"))
	return append(entries, consumers...), err
}

func inEveryForm(f *File) ([]entry, error) {
	var entries []entry
	for _, form := range Forms() {
		data, err := form.Write(f)
		if err != nil {
			return nil, err
		}
		folder := form.Name
		if folder == "json" {
			folder = "files"
		}
		entries = append(entries, entry{path.Join(folder, f.Design+form.Extension), data})
	}
	return entries, nil
}

// consumers reads the programs that read vectors. It omits files that their
// build tools create.
func consumers(dir string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{"node_modules", "target", ".venv", "__pycache__"}, e.Name()) {
			return fs.SkipDir
		}
		if e.IsDir() || strings.HasSuffix(e.Name(), ".go") || e.Name() == "Cargo.lock" {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		entries = append(entries, entry{path.Join("consumers", filepath.ToSlash(rel)), data})
		return err
	})
	return entries, err
}

func pack(entries []entry) ([]byte, error) {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		h := &tar.Header{Name: path.Join(root, e.path), Mode: e.mode(), Size: int64(len(e.data)), Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// license is the license text of the vectors.
const license = `License of these vectors: CC0-1.0 OR 0BSD, at your choice.

CC0-1.0: the legal code is at
https://creativecommons.org/publicdomain/zero/1.0/legalcode

0BSD:

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH
REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS
OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER
TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.
`
