package tokenfmt

import (
	"encoding/binary"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// An Alteration is an altered token.
type Alteration struct {
	Text []byte
	How  string // the difference from the token, for a person
}

// Alterations yields altered tokens.
type Alterations = func(yield func(Alteration))

// An Alterer yields the alterations of one kind. Some texts may equal that of the token; callers skip those.
type Alterer = func(f Format, s *Source, yield func(Alteration))

// Each returns the alterations of a token. If the caller stops early, the remaining alterations are
// generated and dropped.
func Each(alter Alterer, f Format, s *Source) iter.Seq[Alteration] {
	return func(yield func(Alteration) bool) {
		more := true
		alter(f, s, func(a Alteration) { more = more && yield(a) })
	}
}

// A Generator enumerates the alterations of one kind.
type Generator struct {
	Name string
	// Spelling reports that the alterations carry the same bytes as the token. If a reader
	// accepts one, the token has two spellings. The other generators change the bytes, so an
	// accepted alteration was never sealed.
	Spelling bool
	alter    Alterer
}

// Alter returns the alterations of a token.
func (g Generator) Alter(f Format, s *Source) iter.Seq[Alteration] { return Each(g.alter, f, s) }

// Generators lists all generators.
var Generators = []Generator{
	{"unused-bits", true, UnusedBits},
	{"other-alphabet", true, OtherAlphabet},
	{"padding", true, Padding},
	{"white-space", true, WhiteSpace},
	{"letter-case", true, LetterCase},
	{"foreign-characters", true, ForeignCharacters},
	{"other-serialization", true, OtherSerialization},
	{"recompressed", true, Recompressed},
	{"overflows", true, Overflows},
	{"trailing-data", true, TrailingData},
	{"doubled-segments", true, DoubledSegments},
	{"shifted-borders", true, ShiftedBorders},
	{"second-signatures", true, SecondSignatures},
	{"truncation", false, Truncation},
	{"empty-segments", false, EmptySegments},
	{"bit-flips", false, BitFlips},
	{"short-tags", false, ShortTags},
	{"constant-tags", false, ConstantTags},
	{"lengths", false, Lengths},
	{"versions", false, Versions},
	{"unkeyed", false, Unkeyed},
	{"parted", false, Parted},
	{"heads", false, Heads},
	{"header-members", false, HeaderMembers},
	{"members", false, Members},
	{"texts", false, Texts},
	{"blocks", false, Blocks},
	{"exchanged blocks", false, Exchanged},
	{"points", false, Points},
	{"padding-ends", false, paddingEnds},
}

// A Source draws random alterations if there are too many to enumerate.
type Source struct {
	*rand.Rand
	// Sweep is the number of values drawn from a range that is enumerated otherwise, for
	// example every bit of a token of 1 KiB. 0 means all.
	Sweep int
}

// NewSource returns a source without a sweep, whose random choices derive from seed.
func NewSource(seed uint64) *Source { return &Source{Rand: rand.New(rand.NewPCG(seed, seed))} }

// mostEnumerated is the largest range that is enumerated: every bit of 1 KiB. From a larger
// range, mostDrawn numbers are drawn, so that the work on a token stays below the square of its
// length. A large sample includes the ends of the range.
const (
	mostEnumerated = 8 << 10
	mostDrawn      = 2 << 10
	rangeEnds      = 64 // at each end
)

// Range returns the numbers below n in order, or a sorted sample of Sweep of them. If n exceeds
// mostEnumerated, it always returns a sample.
func (s *Source) Range(n int) []int {
	drawn := n
	if n > mostEnumerated {
		drawn = mostDrawn
	}
	if s.Sweep > 0 {
		drawn = min(drawn, s.Sweep)
	}
	if n > mostEnumerated {
		return s.sample(n, drawn)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if drawn < n {
		s.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		slices.Sort(all[:drawn])
	}
	return all[:drawn]
}

// sample draws distinct numbers below n, where n is much larger than drawn.
func (s *Source) sample(n, drawn int) []int {
	seen := map[int]bool{}
	for i := 0; i < rangeEnds && drawn >= 4*rangeEnds; i++ {
		seen[i], seen[n-1-i] = true, true
	}
	for len(seen) < drawn {
		seen[s.IntN(n)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Places returns positions from 0 to n: both ends, and some random ones.
func (s *Source) Places(n, some int) []int {
	at := []int{0, n}
	for range some {
		at = append(at, s.IntN(n+1))
	}
	return at
}

// Bytes returns n random bytes.
func (s *Source) Bytes(n int) []byte {
	b := make([]byte, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], s.Uint64())
	}
	return b[:n]
}

// Letters returns n random letters from a to z.
func (s *Source) Letters(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(s.IntN(26))
	}
	return b
}
