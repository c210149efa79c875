package base64url

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// coders are the implementations under test. With the build tag purego all are
// the same.
var coders = map[string]coder{"fast": fast, "vectors": vectors, "plain": plain}

func eachCoder(t *testing.T, test func(t *testing.T, c coder)) {
	for name, c := range coders {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

// digits maps each byte to its value in the alphabet, or to -1.
var digits = func() (d [256]int) {
	for b := range d {
		d[b] = strings.IndexByte(alphabet, byte(b))
	}
	return d
}()

// oracle decodes canonical text bit by bit (RFC 4648, sections 3.5 and 5).
func oracle(text []byte) ([]byte, bool) {
	out := make([]byte, 0, len(text))
	value, bits := 0, 0
	for _, char := range text {
		digit := digits[char]
		if digit < 0 {
			return nil, false
		}
		value, bits = value<<6|digit, bits+6
		if bits >= 8 {
			bits -= 8
			out = append(out, byte(value>>bits))
			value &= 1<<bits - 1
		}
	}
	return out, bits < 6 && value == 0
}

// lengths returns lengths in bytes: all small ones, which cover every path of
// the vector code, and some large ones.
func lengths() []int {
	var ns []int
	for n := range 260 {
		ns = append(ns, n)
	}
	for _, center := range []int{3072, 6144, 100_000} {
		for offset := -4; offset <= 4; offset++ {
			ns = append(ns, center+offset)
		}
	}
	return ns
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	random.Read(b) //nolint:errcheck // never fails
	return b
}

func TestRoundTrip(t *testing.T) {
	eachCoder(t, func(t *testing.T, c coder) {
		for _, n := range lengths() {
			src := randomBytes(n)
			text := appendEncode(c, []byte("before"), src)
			require.Equal(t, "before"+base64.RawURLEncoding.EncodeToString(src), string(text), "%d bytes", n)
			require.Len(t, text, len("before")+EncodedLen(n))
			require.Equal(t, n, DecodedLen(len(text)-len("before")))
			got, ok := appendDecode(c, []byte("before"), text[len("before"):])
			require.True(t, ok, "%d bytes", n)
			require.Equal(t, "before"+string(src), string(got))
		}
	})
}

// TestEveryByteAtEveryPosition changes one character of a text to every byte.
// AppendDecode must accept the same texts as the oracle, with the same result.
// The texts have every length up to 64, and some longer ones.
func TestEveryByteAtEveryPosition(t *testing.T) {
	testenv.SkipRace(t)
	eachCoder(t, func(t *testing.T, c coder) {
		for n := range 49 {
			text := appendEncode(c, nil, randomBytes(n))
			for i := range text {
				requireLikeOracle(t, c, text, i)
			}
		}
		for _, n := range []int{72, 73, 74, 97, 98, 144, 257} {
			text := appendEncode(c, nil, randomBytes(n))
			for i := max(0, len(text)-40); i < len(text); i++ {
				requireLikeOracle(t, c, text, i)
			}
		}
	})
}

// TestManyChanges changes several characters at a time, mostly to characters
// that some decoder accepts.
func TestManyChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	eachCoder(t, func(t *testing.T, c coder) {
		for range 20_000 {
			text := appendEncode(c, nil, randomBytes(random.IntN(120)))
			for range random.IntN(5) {
				if len(text) > 0 {
					text[random.IntN(len(text))] = "\r\n=+/-_ \x00AQgw\xff"[random.IntN(14)]
				}
			}
			want, wantOK := oracle(text)
			got, ok := appendDecode(c, nil, text)
			require.Equal(t, wantOK, ok, "%q", text)
			if ok {
				require.Equal(t, want, append([]byte{}, got...), "%q", text)
			}
		}
	})
}

func requireLikeOracle(t *testing.T, c coder, text []byte, i int) {
	t.Helper()
	changed, room := bytes.Clone(text), make([]byte, 0, DecodedLen(len(text)))
	for b := range 256 {
		changed[i] = byte(b)
		want, wantOK := oracle(changed)
		got, ok := appendDecode(c, room, changed)
		if ok != wantOK || !bytes.Equal(got, want) && ok || !ok && len(got) != 0 {
			require.Failf(t, "not as the oracle", "byte %#x at %d of %d: got %t, want %t", b, i, len(text), ok, wantOK)
		}
	}
}

// TestForeignSpellings inserts text that decoders are known to accept at every
// position.
func TestForeignSpellings(t *testing.T) {
	eachCoder(t, func(t *testing.T, c coder) {
		for _, n := range []int{1, 2, 3, 30, 31, 32, 100} {
			text := string(appendEncode(c, nil, bytes.Repeat([]byte{0xff, 0xef}, n)[:n]))
			for _, inserted := range []string{"\r", "\n", "\r\n", "\n\n\n\n", "=", "==", " ", "\x00", "\xff", "\u2028", "%3D", "A"} {
				for i := range len(text) + 1 {
					foreign := []byte(text[:i] + inserted + text[i:])
					_, want := oracle(foreign)
					_, ok := appendDecode(c, nil, foreign)
					require.Equal(t, want, ok, "%q", foreign)
				}
			}
			standard := strings.NewReplacer("-", "+", "_", "/").Replace(text)
			require.NotEqual(t, text, standard)
			_, ok := appendDecode(c, nil, []byte(standard))
			require.False(t, ok, "the other alphabet: %q", standard)
		}
	})
}

// TestDecodersAreLoose shows that the checks of AppendDecode are necessary: the
// decoder alone accepts each text.
func TestDecodersAreLoose(t *testing.T) {
	for name, c := range map[string]coder{"plain": plain, "vectors": vectors} {
		for _, text := range []string{"AA\nAA", strings.Repeat("A", 63) + "\r\n"} {
			_, err := c.(library).Decode(make([]byte, 100), []byte(text))
			require.NoError(t, err, "%s: %q", name, text)
			_, ok := appendDecode(c, nil, []byte(text))
			require.False(t, ok, "%s: %q", name, text)
		}
	}
}

// TestStaysInItsRoom decodes and encodes into slices inside a larger array. The
// bytes around them must stay unchanged.
func TestStaysInItsRoom(t *testing.T) {
	const margin = 64
	eachCoder(t, func(t *testing.T, c coder) {
		for _, n := range lengths() {
			src := randomBytes(n)
			text := appendEncode(c, nil, src)
			requireInRoom(t, margin, len(text), func(dst []byte) []byte { return appendEncode(c, dst, src) })
			requireInRoom(t, margin, DecodedLen(len(text)), func(dst []byte) []byte {
				got, ok := appendDecode(c, dst, text)
				require.True(t, ok)
				return got
			})
		}
	})
}

func requireInRoom(t *testing.T, margin, room int, call func(dst []byte) []byte) {
	t.Helper()
	array := bytes.Repeat([]byte{0xa5}, margin+room+margin)
	got := call(array[margin : margin : margin+room])
	require.True(t, room == 0 || &got[:1][0] == &array[margin], "the room of %d bytes was not used", room)
	border := slices.Concat(array[:margin], array[margin+room:])
	require.Equal(t, bytes.Repeat([]byte{0xa5}, 2*margin), border, "outside of a room of %d bytes", room)
}

func TestAllocationsNone(t *testing.T) {
	src := randomBytes(10_000)
	text := AppendEncode(nil, src)
	forText, forBytes := make([]byte, 0, len(text)), make([]byte, 0, DecodedLen(len(text)))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		AppendEncode(forText, src)
		AppendDecode(forBytes, text)
	}))
}

func TestParse(t *testing.T) {
	text, raw, err := Parse("p1.", 3, []byte("p1.AAEC"))
	require.NoError(t, err)
	require.Equal(t, "AAEC", string(text))
	require.Equal(t, []byte{0, 1, 2}, raw)
	for token, want := range map[string]string{
		"":          `does not begin with "p1."`,
		"p2.AAEC":   `does not begin with "p1."`,
		"p1.AAEC\n": `what follows "p1." is not canonical base64url`,
		"p1.AAE":    "holds 2 bytes, want at least 3",
	} {
		_, _, err := Parse("p1.", 3, []byte(token))
		require.ErrorContains(t, err, want, "%q", token)
	}
}

func TestScratch(t *testing.T) {
	s := GetScratch()
	require.Empty(t, s.Bytes)
	s.Bytes = append(s.Bytes, "abc"...)
	s.Grow(10_000)
	require.Equal(t, "abc", string(s.Bytes))
	require.GreaterOrEqual(t, cap(s.Bytes), 10_003)
	require.True(t, s.Decode([]byte("AAEC")))
	require.Equal(t, "abc\x00\x01\x02", string(s.Bytes))
	require.False(t, s.Decode([]byte("AAEC=")))
	require.Equal(t, "abc\x00\x01\x02", string(s.Bytes))
	s.Free()
	s = GetScratch()
	require.Empty(t, s.Bytes)
	s.Grow(maxPooled + 1)
	s.Free() // too large to keep
}

// FuzzDecode compares all implementations with the oracle.
func FuzzDecode(f *testing.F) {
	for _, n := range []int{0, 1, 2, 3, 48, 200, 3073} {
		f.Add(AppendEncode(nil, randomBytes(n)))
	}
	for _, text := range []string{"AA\nAA", "AA==", "AB", "a/b+", "\xff\xff\xff\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want, wantOK := oracle(text)
		for name, c := range coders {
			got, ok := appendDecode(c, nil, text)
			require.Equal(t, wantOK, ok, name)
			if !ok {
				continue
			}
			require.True(t, bytes.Equal(want, got), name)
			require.Equal(t, string(text), string(appendEncode(c, nil, got)), name)
		}
	})
}

func ExampleAppendEncode() {
	text := AppendEncode(nil, []byte{0xff, 0xfe})
	fmt.Printf("%s\n", text)
	// Output: __4
}
