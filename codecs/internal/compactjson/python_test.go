package compactjson_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/testenv"
)

var (
	documents = flag.Int("documents", 5000, "random documents to compare with Python's json.dumps")
	seed      = flag.Uint64("seed", 1, "seed of the random documents")
)

// program reads a list of documents, each as the code points of its text, and
// prints both compact forms of each, sorted and unsorted.
const program = `
import json, sys
for line in sys.stdin:
    value = json.loads("".join(map(chr, json.loads(line))))
    print(json.dumps(value, sort_keys=True, separators=(",", ":")))
    print(json.dumps(value, separators=(",", ":")))
`

// TestAgainstPython compares random documents with the output of python3.
func TestAgainstPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		testenv.Skip(t, "python3 is not on this machine, so compact JSON was not compared with json.dumps")
	}
	t.Logf("seed %d, %d documents", *seed, *documents)
	g := generator{Rand: rand.New(rand.NewPCG(*seed, 0))}
	var docs [][]byte
	var input bytes.Buffer
	for range *documents {
		doc := g.value(nil, 0)
		docs = append(docs, doc)
		line, err := json.Marshal(codePoints(doc))
		require.NoError(t, err)
		input.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = &input
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for _, doc := range docs {
		for _, compact := range []func(dst, doc []byte) ([]byte, error){compactjson.AppendSorted, compactjson.Append} {
			require.True(t, lines.Scan(), "python printed too few lines")
			got, err := compact(nil, doc)
			require.NoError(t, err, "%q", doc)
			require.Equal(t, lines.Text(), string(got), "%q", doc)
		}
	}
	require.False(t, lines.Scan(), "python printed too many lines")
}

func codePoints(doc []byte) []int {
	var points []int
	for len(doc) > 0 {
		r, n := rawjson.DecodeRune(doc)
		points, doc = append(points, int(r)), doc[n:]
	}
	return points
}

// generator makes random documents with floats of every exponent, big integers,
// lone surrogates escaped and not, repeated names, and deep nesting.
type generator struct{ *rand.Rand }

func (g generator) value(dst []byte, depth int) []byte {
	if depth == 0 && g.IntN(200) == 0 {
		return g.deep(dst)
	}
	switch n := g.IntN(12); {
	case n < 2 && depth < 6:
		return g.array(dst, depth)
	case n < 4 && depth < 6:
		return g.object(dst, depth)
	case n < 6:
		return g.text(dst)
	case n < 8:
		return g.float(dst)
	case n < 10:
		return g.integer(dst)
	default:
		words := []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"}
		return append(dst, words[g.IntN(len(words))]...)
	}
}

func (g generator) deep(dst []byte) []byte {
	n := g.IntN(400)
	dst = append(dst, bytes.Repeat([]byte(`[{"k":`), n)...)
	dst = g.text(dst)
	return append(dst, bytes.Repeat([]byte("}]"), n)...)
}

func (g generator) space(dst []byte) []byte {
	for g.IntN(4) == 0 {
		dst = append(dst, " \t\r\n"[g.IntN(4)])
	}
	return dst
}

func (g generator) array(dst []byte, depth int) []byte {
	dst = g.space(append(dst, '['))
	for i, n := 0, g.IntN(5); i < n; i++ {
		if i > 0 {
			dst = g.space(append(dst, ','))
		}
		dst = g.space(g.value(dst, depth+1))
	}
	return append(dst, ']')
}

func (g generator) object(dst []byte, depth int) []byte {
	dst = g.space(append(dst, '{'))
	for i, n := 0, g.IntN(7); i < n; i++ {
		if i > 0 {
			dst = g.space(append(dst, ','))
		}
		if g.IntN(2) == 0 {
			dst = append(dst, '"', "abA_1"[g.IntN(5)], '"')
		} else {
			dst = g.text(dst)
		}
		dst = g.space(append(g.space(dst), ':'))
		dst = g.space(g.value(dst, depth+1))
	}
	return append(dst, '}')
}

func (g generator) text(dst []byte) []byte {
	dst = append(dst, '"')
	for range g.IntN(6) {
		r := g.character()
		switch {
		case g.IntN(3) == 0 && r <= 0xffff:
			dst = append(dst, `\u`...)
			for shift := 12; shift >= 0; shift -= 4 {
				dst = append(dst, "0123456789abcdefABCDEF"[g.digit(int(r>>shift)&15)])
			}
		case r < ' ' || r == '"' || r == '\\':
			dst = append(dst, '\\', `"\/bfnrt`[g.IntN(8)])
		default:
			dst = rawjson.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// digit returns the index of a hexadecimal digit, in either case.
func (g generator) digit(n int) int {
	if n > 9 && g.IntN(2) == 0 {
		return n + 6
	}
	return n
}

func (g generator) character() rune {
	switch g.IntN(5) {
	case 0:
		return rune(g.IntN(0x20))
	case 1:
		return 0xd800 + rune(g.IntN(0x800))
	case 2:
		return rune(g.IntN(0x110000))
	default:
		return rune(g.IntN(0x100))
	}
}

func (g generator) float(dst []byte) []byte {
	switch g.IntN(4) {
	case 0: // any bits
		f := math.Float64frombits(g.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = 0.5
		}
		return strconv.AppendFloat(dst, f, 'e', g.IntN(25)-1, 64)
	case 1: // around where the form changes
		return strconv.AppendFloat(dst, g.Float64()*math.Pow10(g.IntN(26)-7), 'g', -1, 64)
	case 2: // any literal
		dst = append(g.integer(dst), '.')
		return append(strconv.AppendUint(dst, g.Uint64(), 10), "e-20"...)
	default:
		return strconv.AppendInt(append(strconv.AppendInt(dst, g.Int64N(1000), 10), 'E'), g.Int64N(700)-350, 10)
	}
}

func (g generator) integer(dst []byte) []byte {
	if g.IntN(2) == 0 {
		dst = append(dst, '-')
	}
	if g.IntN(5) == 0 {
		return append(dst, '0')
	}
	dst = append(dst, byte('1'+g.IntN(9)))
	for range g.IntN(1 << g.IntN(9)) {
		dst = append(dst, byte('0'+g.IntN(10)))
	}
	return dst
}
