package rawjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/testenv"
)

// stream returns the complete output of StreamSorted.
func stream(doc []byte) ([]byte, error) {
	var all bytes.Buffer
	err := compactjson.StreamSorted(&all, doc)
	return all.Bytes(), err
}

// requireStreamEqualsTree compares StreamSorted with AppendSorted, which builds
// a tree.
func requireStreamEqualsTree(t *testing.T, doc []byte) {
	t.Helper()
	want, wrong := compactjson.AppendSorted(nil, doc)
	got, err := stream(doc)
	require.Equal(t, wrong == nil, err == nil, "%.100q: tree %v, stream %v", doc, wrong, err)
	if wrong == nil {
		require.Equal(t, string(want), string(got), "%.100q", doc)
	}
}

var documents = []string{
	``, ` `, `{`, `{}`, ` { } `, `[]`, `[ ]`, `""`, `0`, `-0`, `-0.0`, `1e400`, `NaN`, `nul`, `null`, `[1,]`, `{"a"}`, `{"a":1,}`, `{"a":1}x`,
	`{"b":{"d":1,"c":[{"z":1,"y":2},{}]},"a":2,"b":3,"":{"":{}}}`, `{"a":{"x":1,"y":2},"a":{"y":1}}`, `{"b":1,"a":{"b":1,"a":{"b":1,"a":0}}}`,
	`{"\u0061":1,"a":2}`, `{"a":2,"\u0061":1}`, `"\ud83d\ude00\ud800x"`, "\"\xed\xa0\xbd\xed\xb8\x80\"", "\"\xff\"", `{"\ud83d\ude00":1,"😀":2,"\ue000":3}`,
	`[[[[[[1]]]]]]`, `"` + strings.Repeat("long ", 5000) + `"`, `"` + strings.Repeat(`\u00e9`, 5000) + `"`,
	strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000),
	`{"k":` + strings.Repeat("9", 10_000) + `}`, `{"b" : 1 , "a" : [ 1 , 2.50 ] }`, "\x00", `"` + "\n" + `"`,
}

func TestStreamEqualsTree(t *testing.T) {
	for _, doc := range documents {
		requireStreamEqualsTree(t, []byte(doc))
	}
	const seed = 5
	count := sampled(20_000)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range count {
		doc := randomDocument(rng, 0)
		requireStreamEqualsTree(t, doc)
		doc[rng.IntN(len(doc))] = `{}[]",:\u0e-+ `[rng.IntN(14)]
		requireStreamEqualsTree(t, doc)
	}
}

// sampled returns all, or a tenth of it in a sample run.
func sampled(all int) int {
	if testenv.Sample() {
		return all / 10
	}
	return all
}

// randomDocument returns JSON with repeated names, escapes and white space.
func randomDocument(rng *rand.Rand, depth int) []byte {
	texts := []string{`"a"`, `"b"`, `"\u0061"`, `""`, `"é"`, `"\u00e9"`, `"\ud800"`, `"😀"`, `"\ud83d\ude00"`, `"A"`, `"\""`, `"a b"`}
	scalars := append([]string{"0", "-0", "1.0", "1E2", "1e16", "0.1", "-0.0", "null", "true", "false", "123456789012345678901", "NaN"}, texts...)
	kind := rng.IntN(4)
	if depth > 4 || kind < 2 {
		return []byte(scalars[rng.IntN(len(scalars))])
	}
	opening, closing := "[", "]"
	if kind == 3 {
		opening, closing = "{", "}"
	}
	doc := []byte(opening)
	for i := range rng.IntN(6) {
		if i > 0 {
			doc = append(doc, " ,"[rng.IntN(2):]...)
		}
		if kind == 3 {
			doc = append(append(doc, texts[rng.IntN(len(texts))]...), " : "[rng.IntN(2):rng.IntN(2)+2]...)
		}
		doc = append(doc, randomDocument(rng, depth+1)...)
	}
	return append(doc, closing...)
}

// hostile returns documents of about n bytes that need the most memory as a
// tree.
func hostile(n int) map[string][]byte {
	repeat := func(opening, part, closing string) []byte {
		return []byte(opening + strings.TrimSuffix(strings.Repeat(part, n/len(part)), ",") + closing)
	}
	return map[string][]byte{
		"zeros":       repeat("[", "0,", "]"),
		"lists":       repeat("[", "[],", "]"),
		"objects":     repeat("[", "{},", "]"),
		"members":     repeat("{", `"":0,`, "}"),
		"one member":  repeat("[", `{"":0},`, "]"),
		"nested":      []byte(strings.Repeat(`{"":`, 9000) + string(repeat("[", "0,", "]")) + strings.Repeat("}", 9000)),
		"colons":      repeat(`"`, ":", `"`),
		"escapes":     repeat(`"`, `\u0000`, `"`),
		"wide":        repeat(`"`, "\x7f", `"`),
		"digits":      repeat("", "9", ""),
		"fraction":    repeat("0.", "9", ""),
		"long names":  []byte(`{"` + strings.Repeat("a", n/2) + `":0,"` + strings.Repeat("a", n/2) + `":0}`),
		"descending":  descending(n),
		"nest of two": []byte(strings.Repeat(`{"b":0,"a":`, 9000) + "0" + strings.Repeat("}", 9000)),
	}
}

func descending(n int) []byte {
	doc := []byte("{")
	for i := n / 12; i > 0; i-- {
		doc = fmt.Appendf(doc, `"%07d":0,`, i)
	}
	return append(doc[:len(doc)-1], '}')
}

// TestHeapIsLinear checks that the streamer and CheckExact each use at most 4
// bytes of heap per byte. The tree uses about 150.
func TestHeapIsLinear(t *testing.T) {
	testenv.SkipRace(t)
	const n = 1 << 18
	for name, doc := range hostile(n) {
		for what, f := range map[string]func(){
			"stream": func() { _ = compactjson.StreamSorted(io.Discard, doc) },
			"check":  func() { _ = rawjson.CheckExact(doc) },
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				require.LessOrEqual(t, allocated(f), uint64(4*len(doc)+(64<<10)))
			})
		}
	}
	// Control: a tree of the same document uses more.
	doc := hostile(n)["zeros"]
	require.Greater(t, allocated(func() { _, _ = compactjson.AppendSorted(nil, doc) }), uint64(50*n))
}

// allocated returns the total number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestCheckExact checks documents that two readers read as different values,
// and others.
func TestCheckExact(t *testing.T) {
	for _, doc := range []string{
		`{}`, `null`, `{"a":1,"b":{"a":1}}`, `[{"a":1},{"a":1}]`, `{"a":1.0}`, `0.1`, `1e3`, `1.50`, `0e5`, `0.0`, `-0.0`, `1e23`, `5e-324`,
		`1.7976931348623157e308`, `9007199254740993`, `123456789012345678901234567890`, `100.0`, `1000000000000000000000.0`, `0.000001`, `-1.5E+2`,
		`"\ud83d\ude00"`, `"\ufffd"`, `{"é":1,"e":2}`, `{"a":1,"ab":2,"":3}`, `2.5e-1`, `{"a-b":1,"ab":2}`, `0.30000000000000004`,
	} {
		require.NoError(t, rawjson.CheckExact([]byte(doc)), doc)
	}
	for _, doc := range []string{
		`{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `{"a":1,"b":2,"a":3}`, `[[{"x":{"a":1,"a":1}}]]`, `{"a":1,"A":2}`, `{"k":1,"K":2}`, `{"s":1,"ſ":2}`, `{"é":1,"É":2}`,
		`"\ud800"`, `"\udc00\ud800"`, "\"\xed\xa0\x80\"", "\"\xff\"", `{"\ud800":1}`,
		`-0`, `1e400`, `-1e400`, `1e-400`, `9007199254740993.0`, `0.1000000000000000055511151231257827`, `0.10000000000000001`, `1e99999999999999999999`,
		`NaN`, `Infinity`, `{`, `{"a":1,}`, ``, `{"a" 1}`, `[1 2]`, `"a`, `{} {}`, `01`, `"` + "\t" + `"`,
	} {
		require.Error(t, rawjson.CheckExact([]byte(doc)), doc)
	}
}

// TestExactDocumentsDecodeAlike finds pairs of documents with the same sorted
// form. If both are exact, encoding/json must decode both to the same value.
func TestExactDocumentsDecodeAlike(t *testing.T) {
	type target struct{ A, B json.Number }
	const seed = 9
	count := sampled(200_000)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	numbers := []string{"1", "1.0", "1.00", "1e0", "10e-1", "2", "0.1", "0.10000000000000001", "1e400", "1e401", "-0", "0", "null"}
	names := []string{"a", "A", "b", "B", `\u0061`}
	byForm := map[string]target{}
	exact := 0
	for range count {
		doc := fmt.Appendf(nil, `{"%s":%s,"%s":%s}`, names[rng.IntN(5)], numbers[rng.IntN(13)], names[rng.IntN(5)], numbers[rng.IntN(13)])
		if rawjson.CheckExact(doc) != nil {
			continue
		}
		exact++
		form, err := stream(doc)
		require.NoError(t, err)
		var got target
		require.NoError(t, json.Unmarshal(doc, &got))
		if first, seen := byForm[string(form)]; seen {
			require.Equal(t, values(first), values(got), "%s", doc)
		} else {
			byForm[string(form)] = got
		}
	}
	require.Greater(t, exact, count/10)
}

// values returns the numbers of a target as exact decimals.
func values(t struct{ A, B json.Number }) (exact [2]string) {
	for i, n := range []json.Number{t.A, t.B} {
		if r, ok := new(big.Rat).SetString(string(n)); ok {
			exact[i] = r.String()
		}
	}
	return exact
}
