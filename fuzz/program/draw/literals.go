package draw

import (
	"errors"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// A dictionary is the literals in the source under test. A rare state often
// needs a comparison with one, which no fuzzer guesses.
type dictionary struct {
	words   ring[[]byte]
	numbers ring[int] // from 2 to maxLength
}

// sourceFolders have the packages under test, from the root of the module.
var sourceFolders = []string{"codecs", "internal/broken/injected"}

// longestWord excludes documentation and whole messages.
const longestWord = 32

var literals = sync.OnceValue(func() dictionary {
	// Without the source there is at least this; TestLiterals tells, and Seeds
	// fail for the same reason.
	texts, numbers := map[string]bool{"{": true}, map[int]bool{16: true}
	if root, err := ModuleRoot(); err == nil {
		for _, folder := range sourceFolders {
			collectBelow(filepath.Join(root, folder), texts, numbers)
		}
	}
	var words [][]byte
	names := slices.Sorted(maps.Keys(texts))
	for _, text := range names {
		words = append(words, []byte(text))
	}
	var digits []string
	lengths := slices.Sorted(maps.Keys(numbers))
	for _, n := range lengths {
		digits = append(digits, strconv.Itoa(n))
	}
	return dictionary{newRing(names, words), newRing(digits, lengths)}
})

// collectBelow adds the literals of the Go files below dir, without tests.
func collectBelow(dir string, texts map[string]bool, numbers map[int]bool) {
	//nolint:errcheck // what cannot be read has no literals
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err == nil {
			collect(source, texts, numbers)
		}
		return err
	})
}

// collect adds the literals of a Go file to texts and numbers.
func collect(source []byte, texts map[string]bool, numbers map[int]bool) {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(source)), source, nil, 0)
	for {
		_, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return
		case token.STRING:
			if value, err := strconv.Unquote(text); err == nil && value != "" && len(value) <= longestWord {
				texts[value] = true
			}
		case token.CHAR:
			if value, _, _, err := strconv.UnquoteChar(text[1:], '\''); err == nil {
				texts[string(value)] = true
			}
		case token.INT:
			n, err := strconv.ParseInt(text, 0, 64)
			if err == nil && n > 1 && n <= maxLength {
				numbers[int(n)] = true
			}
			if err == nil && n > 1 && n <= 0xff {
				texts[string([]byte{byte(n)})] = true
			}
		}
	}
}

// Literal reads the choice of a word. The caller must not change it.
func Literal(p *program.Program) []byte { return literals().words.at(p.Uint16()) }

// number reads the choice of a number.
func number(p *program.Program) int { return literals().numbers.at(p.Uint16()) }

// ModuleRoot returns the folder of go.mod above the working folder or, in a
// campaign, above harness.EnvSource.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
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
			return "", errors.New("the working folder is not inside the module, whose vectors are the seeds")
		}
		dir = filepath.Dir(dir)
	}
}
