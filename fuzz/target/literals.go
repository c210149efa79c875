package target

import (
	"cmp"
	"go/scanner"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sealab/fuzz/program"
)

// A dictionary is the literals in the source of what is fuzzed: a rare state is
// often behind a comparison with one, which no fuzzer guesses.
type dictionary struct {
	words   []word
	numbers []int // from 2 to maxLength, sorted
}

// A word is a literal text. Programs name it by its hash, so that they mean the
// same when others come and go.
type word struct {
	hash uint16
	text []byte
}

// sourceFolder has the packages under test, from the root of the module.
const sourceFolder = "codecs"

// longestWord keeps documentation and whole messages out.
const longestWord = 32

var literals = sync.OnceValue(func() dictionary {
	// Without the source there is at least this; TestLiterals tells, and Seeds
	// fail for the same reason.
	texts, numbers := map[string]bool{"{": true}, map[int]bool{16: true}
	if root, err := moduleRoot(); err == nil {
		collectBelow(filepath.Join(root, sourceFolder), texts, numbers)
	}
	var d dictionary
	for text := range texts {
		d.words = append(d.words, word{hashOf(text), []byte(text)})
	}
	for n := range numbers {
		d.numbers = append(d.numbers, n)
	}
	slices.SortFunc(d.words, func(a, b word) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(string(a.text), string(b.text)))
	})
	slices.Sort(d.numbers)
	return d
})

func hashOf(text string) uint16 {
	h := fnv.New32a()
	h.Write([]byte(text)) //nolint:errcheck // documented never to fail
	return uint16(h.Sum32())
}

// collectBelow adds the literals of the Go files below dir, tests left out.
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

// literal reads the choice of a word.
func literal(p *program.Program) []byte {
	words, hash := literals().words, uint16(p.Uint16())
	i, _ := slices.BinarySearchFunc(words, hash, func(w word, hash uint16) int { return cmp.Compare(w.hash, hash) })
	return words[i%len(words)].text
}

// number reads the choice of a number.
func number(p *program.Program) int {
	numbers := literals().numbers
	return numbers[p.Uint16()%len(numbers)]
}
