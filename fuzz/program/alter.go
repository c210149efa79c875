package program

import (
	"bytes"
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
)

// skippedTexts are texts that lenient decoders skip.
var skippedTexts = [][]byte{[]byte("="), []byte("=="), []byte("\n"), []byte("\r\n"), []byte(" "), []byte("\t"), {0}, []byte("."),
	[]byte("\ufeff"), {0xff}, []byte("%3D"), []byte("v1."), []byte("A"), []byte("/"), []byte("+")}

// Alter makes one change to the text of a token.
func Alter(p *Program, token []byte) []byte {
	kind := p.Pick(14)
	at := Place(p, token)
	switch rest := token[at:]; kind {
	case 0: // replace a character
		if len(rest) > 0 {
			rest[0] = readCharacter(p)
		}
		return token
	case 1: // flip bits of a character's value in the alphabet
		if len(rest) > 0 {
			rest[0] = neighborCharacter(rest[0], p.Byte())
		}
		return token
	case 2: // truncate
		return token[:at]
	case 3: // cut from the front
		return rest
	case 4: // insert a text that lenient decoders skip
		return Insert(token, at, skippedTexts[p.Pick(len(skippedTexts))])
	case 5: // insert any bytes
		return Insert(token, at, p.Bytes(64))
	case 6: // append part of the token, which may double it
		return append(token, bytes.Clone(rest[:min(len(rest), 4096)])...)
	case 7: // replace everything
		return bytes.Clone(p.Bytes(2048))
	case 8: // switch to the other alphabet from here on
		otherAlphabet(rest)
		return token
	case 9: // insert a literal of the source
		return Insert(token, at, Literal(p))
	case 10: // overwrite with a literal
		copy(rest, Literal(p))
		return token
	case 11: // change the length by repetition
		return resize(token, Length(p, nil))
	case 12: // exchange neighbors
		if len(rest) > 1 {
			rest[0], rest[1] = rest[1], rest[0]
		}
		return token
	default: // exchange the two parts
		return append(bytes.Clone(rest), token[:at]...)
	}
}

// Place reads an offset into a token: near a border of the format, or anywhere.
func Place(p *Program, token []byte) int {
	switch p.Pick(10) {
	case 0:
		return len(token)
	case 1:
		return max(0, len(token)-1)
	case 2:
		return bytes.IndexByte(token, '.') + 1
	case 3:
		return bytes.LastIndexByte(token, '.') + 1
	case 4:
		return min(len(token), 64) // PEM breaks lines there
	case 5: // near the front: key IDs
		return min(len(token), bytes.IndexByte(token, '.')+1+p.Pick(16))
	case 6: // near the end: tags
		return max(0, len(token)-p.Pick(32))
	case Anywhere:
		return p.Uint16() % (len(token) + 1)
	default: // ends of chunks and buffers
		return min(len(token), Length(p, nil))
	}
}

// Anywhere is the choice of Place that reads the offset as a number.
const Anywhere = 7

// otherAlphabet rewrites base64url to base64, in place.
func otherAlphabet(text []byte) {
	for i, c := range text {
		switch c {
		case '-':
			text[i] = '+'
		case '_':
			text[i] = '/'
		}
	}
}

// resize returns the first n bytes of repetitions of the token.
func resize(token []byte, n int) []byte {
	if len(token) == 0 {
		return token
	}
	out := make([]byte, 0, n+len(token))
	for len(out) < n {
		out = append(out, token...)
	}
	return out[:n]
}

// Insert returns a new slice with what inserted at offset at of token.
func Insert(token []byte, at int, what []byte) []byte {
	return slices.Concat(token[:at], what, token[at:])
}

// Alphabet holds the characters of base64url in the order of their values.
const Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// neighborCharacter returns the character whose value differs from that of c in the
// given bits, or c if it has no value.
func neighborCharacter(c, bits byte) byte {
	if i := strings.IndexByte(Alphabet, c); i >= 0 {
		return Alphabet[(byte(i)^bits)%64]
	}
	return c
}

// A dictionary holds the literals in the source under test. Rare states often depend on a
// comparison with a literal, which fuzzers cannot guess.
type dictionary struct {
	words   ring[[]byte]
	numbers ring[int] // from 2 to maxLength
}

// sourceFolders are the folders of the code under test, relative to the module root.
var sourceFolders = []string{"codecs", "internal/broken/injected"}

// longestWord is the length limit of literals. It excludes documentation and whole messages.
const longestWord = 32

var sourceLiterals = sync.OnceValue(func() dictionary {
	// If the source is missing, the dictionary has only these entries. TestLiterals and the
	// seeds then fail.
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

// collectBelow adds the literals of the Go files below dir, except tests.
func collectBelow(dir string, texts map[string]bool, numbers map[int]bool) {
	//nolint:errcheck // an unreadable file has no literals
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err == nil {
			collectLiterals(source, texts, numbers)
		}
		return err
	})
}

// collectLiterals adds the literals of a Go file to texts and numbers.
func collectLiterals(source []byte, texts map[string]bool, numbers map[int]bool) {
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

// Literal reads the choice of a literal. The caller must not change it.
func Literal(p *Program) []byte { return sourceLiterals().words.at(p.Uint16()) }

// ModuleRoot returns the folder of go.mod at or above the working folder or, in a campaign,
// harness.EnvSource.
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
