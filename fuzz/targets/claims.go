package targets

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var claimsTarget = Target{
	Name: "claims", Layer: layerInside,
	Doc:   "puts rewritten claims or any bytes in the place of the claims, authenticated: the reader answers, twice the same, and readings of one format agree",
	Draws: true,
	Check: runClaims,
	Seeds: claimsSeeds,
}

// A claimsReader is a scheme with claims, and the reading pairs in which it is the strict
// reading.
type claimsReader struct {
	*instance
	pairs  []*readingPair
	minted []byte // claims that the scheme itself writes
}

// claimsReaders are the schemes with a claims step.
var claimsReaders = sync.OnceValue(func() []*claimsReader {
	var all []*claimsReader
	for _, s := range instances() {
		if minted := s.stepValue(lab.StepClaims); minted != nil {
			all = append(all, &claimsReader{s, pairsOf(s), minted})
		}
	}
	return all
})

func pairsOf(s *instance) []*readingPair {
	return slices.DeleteFunc(slices.Clone(readingPairs()), func(r *readingPair) bool { return r.strict.Name != s.Name })
}

func runClaims(p *program.Program) error {
	r := chooseFrom(p, claimsReaders())
	ask, document := p.Pick(2*answerQuestions), r.document(p)
	seed := make([]byte, r.codec.SeedSize())
	token, err := r.codec.SealEdited(nil, seed, []byte(`"state"`), func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			return append(value[:0:0], document...)
		}
		return value
	})
	if err != nil {
		return err
	}
	if ask >= answerQuestions && len(r.pairs) > 0 {
		return r.pairs[ask%len(r.pairs)].compare(token)
	}
	return r.requireAnswer(ask%answerQuestions, token)
}

// jsonFragments are pieces of JSON that are known to break readers.
var jsonFragments = []string{`\ud83d`, `\udc00`, `\u0000`, `\`, `"`, `""`, `,`, `:`, `null`, `true`, `0`, `-0.0`, `1e5`, `1E+1000`, `1e-400`,
	`99999999999999999999`, `1795132800.25`, `NaN`, `-Infinity`, `[`, `]`, `[[[[`, `{"a":`, `}`, `"v":1,`, ` `, "\n", "\ufeff", "\xed\xa0\x80", "\xff", `/**/`}

// Choices of document. The other values change the reader's own claims.
const (
	asRest     = 0
	withLength = 15
)

// document reads the claims to seal: any bytes, or the reader's own claims with some changes,
// usually one.
func (r *claimsReader) document(p *program.Program) []byte {
	switch p.Pick(16) {
	case asRest:
		return p.Rest()
	case withLength:
		return p.Bytes(longestSeedToken)
	}
	document := bytes.Clone(r.minted)
	for range max(1, p.Few(7)) {
		document = changeClaims(p, document)
	}
	return document
}

// changeClaims makes one change to claims.
func changeClaims(p *program.Program, document []byte) []byte {
	kind, at := p.Pick(11), p.Uint16()%(len(document)+1)
	end := min(len(document), at+p.Pick(32))
	switch kind {
	case 0: // insert
		return program.Insert(document, at, []byte(jsonFragments[p.Pick(len(jsonFragments))]))
	case 1: // replace
		return slices.Concat(document[:at], []byte(jsonFragments[p.Pick(len(jsonFragments))]), document[end:])
	case 2: // leave out
		return slices.Concat(document[:at], document[end:])
	case 3: // repeat
		return slices.Concat(document[:end], document[at:])
	case 4: // replace the value of a member
		return replaceValue(document, at, jsonFragments[p.Pick(len(jsonFragments))])
	case 5: // replace the value by a long one
		return replaceValue(document, at, readJSONValue(p))
	case 6: // insert a literal of the source
		return program.Insert(document, at, program.Literal(p))
	case 7: // escape a character
		return escapeAt(document, at)
	case 8: // repeat a name with another value
		return repeatName(document, at, readJSONValue(p))
	case 9: // replace a byte
		return slices.Concat(document[:at], []byte{p.Byte()}, document[min(len(document), at+1):])
	default: // insert many repetitions
		return program.Insert(document, at, bytes.Repeat([]byte(jsonFragments[p.Pick(len(jsonFragments))]), p.Pick(64)))
	}
}

// readRepetitions reads a number of repetitions: usually near a limit of digits or nesting,
// rarely up to 255.
func readRepetitions(p *program.Program) int {
	if n := p.Byte(); n < 224 {
		return int(n) % 32
	}
	return int(p.Byte())
}

// readJSONValue reads a value that is JSON or nearly so: nested, long, or a number near a
// limit.
func readJSONValue(p *program.Program) string {
	n := readRepetitions(p)
	switch p.Pick(9) {
	case 0:
		return strings.Repeat("[", n) + strings.Repeat("]", n)
	case 1:
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	case 2:
		return strings.Repeat(string('0'+p.Byte()%10), n+1)
	case 3:
		return fmt.Sprintf("%d%c%d", p.Byte(), "eE"[n%2], p.Uint16()-1<<15)
	case 4:
		return `"` + program.Letters(program.Payload(p, nil)) + `"`
	case 5:
		return fmt.Sprintf("%d.%d", program.Context.Now.Unix()+int64(p.Uint16()-1<<15), n)
	case 6:
		return fmt.Sprintf("%d", int64(1)<<(n%63)+int64(p.Byte()%3)-1)
	case 7:
		return "[" + strings.Repeat("0,", n) + "0]"
	default:
		return `"` + string(program.Literal(p)) + `"`
	}
}

// escapeAt replaces the character at an offset by its four-digit escape.
func escapeAt(document []byte, at int) []byte {
	if at == len(document) {
		return document
	}
	return slices.Concat(document[:at], fmt.Appendf(nil, `\u%04x`, document[at]), document[at+1:])
}

// repeatName inserts a copy of the first member name after at, with another value, before the
// original.
func repeatName(document []byte, at int, value string) []byte {
	begin := bytes.IndexAny(document[at:], "{,")
	if begin < 0 {
		return document
	}
	begin += at + 1
	colon := bytes.IndexByte(document[begin:], ':')
	if colon < 0 {
		return document
	}
	name := document[begin : begin+colon]
	return slices.Concat(document[:begin], name, []byte(":"+value+","), document[begin:])
}

// replaceValue replaces the first value after at. The value extends to the next comma or brace.
func replaceValue(document []byte, at int, value string) []byte {
	colon := bytes.IndexByte(document[at:], ':')
	if colon < 0 {
		return document
	}
	at += colon + 1
	end := bytes.IndexAny(document[at:], ",}")
	if end < 0 {
		return document
	}
	return slices.Concat(document[:at], []byte(value), document[at+end:])
}

// claimsSeeds returns the claims of each reader with one change of each kind, and the claims of
// the committed vectors.
func claimsSeeds() ([][]byte, error) {
	files, err := committedVectors()
	if err != nil {
		return nil, err
	}
	return withContinuations(seedEach(claimsReaders(), func(r *claimsReader, begin func() *program.Writer) (own [][]byte) {
		for kind := range byte(11) {
			for _, at := range []int{1, 5, 40} {
				own = append(own, begin().Byte(kind).Byte(1).Byte(0).Byte(kind).Uint16(at).Byte(3).Byte(kind).Byte(kind).Program())
			}
		}
		for _, claims := range append(files[r.Name].claims(), r.minted) {
			for _, ask := range []byte{1, answerQuestions} {
				own = append(own, begin().Byte(ask).Byte(asRest).Raw(claims).Program(), begin().Byte(ask).Byte(withLength).Bytes(claims).Byte(0).Program())
			}
		}
		return own
	})), nil
}
