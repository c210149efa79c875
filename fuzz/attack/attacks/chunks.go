package attacks

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// chunks rearranges the parts of a long token: its segments if it has more of them than a short
// token, else the chunks of a segment if their lengths show.
func (t trial) chunks(in *attack.Instance, short *attack.Token) {
	a, okA := in.Mint(t.State(attack.LongState), short.Under)
	b, okB := in.Mint(t.State(attack.LongState), short.Under)
	if !okA || !okB {
		t.Skip("the design seals no long states")
		return
	}
	fa, fb := a.Format(), b.Format()
	if len(fa.Segments)-len(short.Format().Segments) >= 2 && len(fb.Segments) == len(fa.Segments) {
		t.Changes(in, a, rearrangedParts(segmentTexts(fa), segmentTexts(fb), slices.Concat[[]byte]))
		return
	}
	for _, longest := range []int{attack.LongState, 3 * attack.LongerState} {
		if longest > t.Budget.Bytes {
			break
		}
		if c, ok := t.chunksOf(in, short.Under, longest); ok {
			t.chunksInside(in, short.Under, c)
			t.farChunks(in, short.Under, c)
			return
		}
	}
	t.Skip("a long token has no more segments than a short one, and its length does not show chunks")
}

// A chunking describes how a segment is divided into chunks, inferred from the lengths of
// tokens.
type chunking struct {
	segment int
	head    int // bytes before the first chunk
	state   int // state bytes in a full chunk
	sealed  int // token bytes of a full chunk
	first   int // state bytes in the first chunk
}

// chunksOf looks for two lengths of states, up to longest, at which the overhead of the longest
// segment increases by the same number of bytes.
func (t trial) chunksOf(in *attack.Instance, under codecs.Context, longest int) (chunking, bool) {
	var c chunking
	state := t.Letters(longest)
	more := func(n int) int { // bytes of the segment beyond the state
		sealed := in.Seal(state[:n], under)
		if sealed.Answer.Outcome != verdict.Done {
			return -1
		}
		f := in.TokenOf(sealed, under).Format()
		var ok bool
		if c.segment, ok = f.LongestEncoded(); !ok {
			return -1
		}
		return len(f.Segments[c.segment].Bytes) - n
	}
	whole := more(1)
	if more(longest) <= whole {
		return c, false
	}
	one := 1 + sort.Search(longest-1, func(n int) bool { return more(n+1) > whole })
	each := more(one) - whole
	two := one + sort.Search(longest-one, func(n int) bool { return more(one+n) > whole+each })
	c.state, c.first = two-one, one-1
	c.sealed, c.head = c.state+each, whole-each-(c.state-c.first)
	alike := more(one-1) == whole && more(two-1) == whole+each && more(two) == whole+2*each
	return c, alike && two < longest && c.state >= 64 && c.head >= 0 && c.first <= c.state
}

// chunksInside rearranges the chunks of a token of four chunks, the last of which is not full.
func (t trial) chunksInside(in *attack.Instance, under codecs.Context, c chunking) {
	n := c.first + 2*c.state + c.state/2
	a, okA := in.Mint(t.Letters(n), under)
	b, okB := in.Mint(t.Letters(n), under)
	if !okA || !okB {
		return
	}
	f := a.Format()
	t.Changes(in, a, rearrangedParts(c.parts(f), c.parts(b.Format()), func(parts ...[]byte) []byte { return f.With(c.segment, slices.Concat(parts...)) }))
}

// farChunks exchanges the second chunk of long tokens with one whose number has the same last four or eight bits.
func (t trial) farChunks(in *attack.Instance, under codecs.Context, c chunking) {
	for _, d := range []int{16, 256} {
		n := c.first + (d+1)*c.state + c.state/2
		if n > 2*attack.LongerState || n > t.Budget.Bytes {
			return
		}
		tok, ok := in.Mint(t.Letters(n), under)
		if !ok {
			return
		}
		f := tok.Format()
		parts := c.parts(f) // the head, and each chunk behind a border
		if one, other := 4, 4+2*d; other < len(parts) {
			parts[one], parts[other] = parts[other], parts[one]
			t.Change(in, tok, f.With(c.segment, slices.Concat(parts...)), fmt.Sprintf("two chunks exchanged of which one is %d behind the other", d))
		}
	}
}

// parts returns the head and the chunks of a segment, with empty separators between them.
func (c chunking) parts(f tokenfmt.Format) [][]byte {
	raw := f.Segments[c.segment].Bytes
	parts := [][]byte{raw[:c.head]}
	for chunk := range slices.Chunk(raw[c.head:], c.sealed) {
		parts = append(parts, nil, chunk)
	}
	return parts
}

// segmentTexts returns the texts of the segments. Every second one is a separator.
func segmentTexts(f tokenfmt.Format) [][]byte {
	var parts [][]byte
	for _, s := range f.Segments {
		parts = append(parts, []byte(s.Text))
	}
	return parts
}

// chunkDistances are the distances at which chunks are exchanged: neighbors, chunks of the same
// parity, and chunks with the same last decimal or hexadecimal digit.
var chunkDistances = []int{1, 2, 10, 16}

// rearrangedParts yields a with parts left out, exchanged, repeated, and replaced by those of b.
// Every second part is a separator.
func rearrangedParts(a, b [][]byte, join func(parts ...[]byte) []byte) tokenfmt.Alterations {
	whole := join(b...)
	return func(yield func(tokenfmt.Alteration)) {
		for i := 1; i < min(len(a), len(b), 128); i++ {
			give := func(how string, parts ...[][]byte) {
				if text := join(slices.Concat(parts...)...); !bytes.Equal(text, whole) {
					yield(tokenfmt.Alteration{Text: text, How: fmt.Sprintf("part %d of %d %s", i, len(a), how)})
				}
			}
			here, rest := a[:i], a[i:]
			give("and all behind it left out", here)
			give("left out with its border", here[:i-1], rest)
			give("from another token", here, b[i:i+1], rest[1:])
			give("and all behind it from another token", here, b[i:])
			if len(rest) > 2 {
				give("twice", here, rest[:2], rest)
			}
			for _, d := range chunkDistances {
				if k := 2 * d; len(rest) > k {
					give(fmt.Sprintf("exchanged with that %d behind it", d), here, rest[k:k+1], rest[1:k], rest[:1], rest[k+1:])
				}
			}
		}
	}
}
