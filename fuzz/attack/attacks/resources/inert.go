package resources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks/compressed"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// The bounds of work and memory before authentication.
const (
	maxForgedTime   = 10 * time.Millisecond  // the most for a forged token, if a malformed one takes at most a tenth
	maxSteeredRatio = 20                     // the most for a larger number in the token, as a multiple of a refusal
	timingTries     = 7                      // measurements of each text; the shortest counts
	longWork        = 500 * time.Millisecond // measurements this long are repeated only once
	bombBytes       = 8 << 20                // length of a decompressed bomb, in bytes
	bombMemory      = 4 << 20                // memory that refusing a bomb may take, in bytes

	farBombBytes  = 64 << 20 // the same for another process, whose work is measured
	farBombPlaces = 20       // number of places at the start of a segment at which a bomb may begin
)

// behindTags are offsets at which a bomb may begin after a tag, or after a head and a tag.
var behindTags = []int{20, 24, 28, 32, 33, 36, 40, 48, 64}

// unauthenticated returns a token, its format and a forgery of it, for attacks on the cost of
// refusing. If forged is nil, it has recorded the reason.
func (t trial) unauthenticated() (in *attack.Instance, tok *attack.Token, f tokenfmt.Format, forged []byte) {
	in, tok, ok := t.clocked()
	if !ok {
		return
	}
	f = tok.Format()
	last, ok := f.LastEncoded()
	if !ok {
		t.Skip("no segment of the token is in a known encoding")
		return
	}
	return in, tok, f, f.Flip(last, 8*len(f.Segments[last].Bytes)-1).Text
}

// workBefore compares the work of refusing forged tokens and a malformed one. A reader may
// cache its work for a salt that it has met, so further forgeries are random each time.
func (t trial) workBefore() {
	in, tok, f, forged := t.unauthenticated()
	if forged == nil {
		return
	}
	defer t.elsewhere()()
	forgeries := []func() []byte{func() []byte { return forged }}
	for i, raw := range f.EncodedBytes() {
		for _, keep := range []int{0, 1, 4, 8} {
			forgeries = append(forgeries, func() []byte {
				head := raw[:min(keep, len(raw))]
				return f.With(i, slices.Concat(head, t.Bytes(len(raw)-len(head))))
			})
		}
	}
	for _, forge := range forgeries {
		t.Try(codecs.Inert)
		if t.works(func() { in.Ask(forge(), tok.Under) }) <= maxForgedTime {
			continue
		}
		fixed, malformed, call := t.beside(in, tok, forge, []byte("x"))
		if call.Answer.Outcome == verdict.Refused && fixed > maxForgedTime && fixed > 10*malformed {
			t.Refute(codecs.Inert, fmt.Sprintf("refusing a forged token takes %s, and a malformed one %s", fixed, malformed), call)
			return
		}
	}
}

// steeredWork raises the numbers in a forged token and compares the work of refusing it before
// and after. It also presents segments that decompress to a long text.
func (t trial) steeredWork() {
	in, tok, f, forged := t.unauthenticated()
	if forged == nil {
		return
	}
	defer t.elsewhere()()
	refuse := func() { in.Ask(forged, tok.Under) }
	refusal := min(t.works(refuse), t.works(refuse), t.works(refuse))
	for a := range tokenfmt.Each(largerNumbers, f, t.Source) {
		t.Try(codecs.Inert)
		var first verdict.Call
		took := t.works(func() { first = in.Ask(a.Text, tok.Under) })
		if took <= max(maxForgedTime, 2*refusal) && first.Answer.Outcome != verdict.Fault {
			continue
		}
		same := func() []byte { return a.Text }
		took, fixed, call := t.beside(in, tok, same, forged)
		if call.Answer.Outcome == verdict.Fault && t.Faulty() {
			t.Refute(codecs.Inert, fmt.Sprintf("%s makes the server miss the deadline, and otherwise a refusal takes %s", a.How, fixed), call)
			return
		}
		dear := func() bool {
			return call.Answer.Outcome == verdict.Refused && took > maxForgedTime && took > maxSteeredRatio*fixed
		}
		if dear() && took < longWork {
			took, fixed, call = t.beside(in, tok, same, forged) // a busy machine is slow only once
		}
		if dear() {
			t.Refute(codecs.Inert, fmt.Sprintf("%s makes a refusal take %s, and otherwise it takes %s", a.How, took, fixed), call)
			return
		}
	}
	if t.Design.Memory == nil {
		t.inflates(in, tok, f)
		return
	}
	t.inflatesElsewhere(in, tok, f)
}

// beside presents a text, generated anew each time, and another one, alternating. It returns
// the least time of the text, because load only adds time, the median time of the other, and
// the last call of the text.
func (t trial) beside(in *attack.Instance, tok *attack.Token, made func() []byte, other []byte) (took, otherwise time.Duration, call verdict.Call) {
	var of, ofOther []time.Duration
	for len(of) < timingTries && (len(of) < 2 || slices.Min(of) < longWork) {
		said, text := len(t.Design.Breaches()), made()
		of = append(of, t.works(func() { call = in.Ask(text, tok.Under) }))
		if call.Answer.Outcome == verdict.Fault {
			if call.Answer = in.Settle(call, said, func() verdict.Answer { return in.Ask(text, tok.Under).Answer }); call.Answer.Outcome == verdict.Fault {
				return slices.Min(of), median(append(ofOther, t.works(func() { in.Ask(other, tok.Under) }))), call
			}
		}
		ofOther = append(ofOther, t.works(func() { in.Ask(other, tok.Under) }))
	}
	return slices.Min(of), median(ofOther), call
}

// countMember matches a member of a JSON object whose value may be a count.
var countMember = regexp.MustCompile(`"([A-Za-z0-9_-]+)":\s*([0-9]{1,7})\b`)

// countWord matches a word that may be a count, preceded by its name or unit.
var countWord = regexp.MustCompile(`^[a-z]{0,8}=?[0-9]{1,6}$`)

// countPlaces is the number of bytes at the start of a segment that are tried as a count.
const countPlaces = 12

// costExponents are added to numbers that may be the logarithm of a cost, as in bcrypt and scrypt.
// Larger additions may exceed a bound.
var costExponents = []int{6, 10}

// largerNumbers yields forged tokens with a larger number: in a readable header, in a segment
// that is a number, or in one or two bytes near the start of a segment.
func largerNumbers(f tokenfmt.Format, _ *tokenfmt.Source, yield func(tokenfmt.Alteration)) {
	for i, s := range f.Segments {
		if !s.Encoded() {
			if countWord.MatchString(s.Text) {
				digits := strings.TrimLeft(s.Text, "abcdefghijklmnopqrstuvwxyz=")
				for _, larger := range largerTexts(digits) {
					word := strings.TrimSuffix(s.Text, digits) + larger
					yield(tokenfmt.Alteration{Text: f.WithText(i, word), How: fmt.Sprintf("%s for %s in segment %d", word, s.Text, i)})
				}
			}
			continue
		}
		for at := range min(countPlaces, max(0, len(s.Bytes)-1)) {
			if json.Valid(s.Bytes) {
				break
			}
			larger := slices.Concat(s.Bytes[:at], []byte{0xff, 0xff}, s.Bytes[at+2:])
			yield(tokenfmt.Alteration{Text: f.With(i, larger), How: fmt.Sprintf("65535 at byte %d of segment %d", at, i)})
			for _, more := range costExponents {
				larger := bytes.Clone(s.Bytes)
				larger[at] += byte(more)
				yield(tokenfmt.Alteration{Text: f.With(i, larger), How: fmt.Sprintf("%d added to byte %d of segment %d", more, at, i)})
			}
		}
		for _, m := range countMember.FindAllSubmatchIndex(s.Bytes, 8) {
			for _, number := range largerTexts(string(s.Bytes[m[4]:m[5]])) {
				larger := slices.Concat(s.Bytes[:m[4]], []byte(number), s.Bytes[m[5]:])
				yield(tokenfmt.Alteration{Text: f.With(i, larger), How: fmt.Sprintf("%s as %s in segment %d", s.Bytes[m[2]:m[3]], number, i)})
			}
		}
	}
}

// largerTexts returns decimal numbers that are larger than the given digits.
func largerTexts(digits string) []string {
	larger := []string{digits + "000", digits + "00000"}
	if n, err := strconv.Atoi(digits); err == nil {
		for _, more := range costExponents {
			larger = append(larger, strconv.Itoa(n+more))
		}
	}
	return larger
}

// packedZeros returns compressed zeros by format.
var packedZeros = sync.OnceValue(func() map[string][]byte { return compressed.Zeros(bombBytes) })

// A bombPlace is a place in a token at which compressed data may begin.
type bombPlace struct {
	f             tokenfmt.Format
	segment, keep int    // the segment, and the number of its leading bytes that are kept
	asked         string // describes a change elsewhere in the token that announces the data
}

// with returns the token with data at the place.
func (b bombPlace) with(data []byte) []byte {
	return b.f.With(b.segment, slices.Concat(b.f.Segments[b.segment].Bytes[:b.keep], data))
}

func (b bombPlace) String() string {
	return fmt.Sprintf("behind %d bytes of segment %d%s", b.keep, b.segment, b.asked)
}

// bombPlaces returns the places after the given numbers of bytes of each segment. If a segment
// is a JSON header, it also returns the other segments, with a header that declares them
// compressed (RFC 7516, section 4.1.3).
func bombPlaces(f tokenfmt.Format, keeps []int) (all []bombPlace) {
	for i, raw := range f.EncodedBytes() {
		for _, keep := range keeps {
			if keep <= len(raw) {
				all = append(all, bombPlace{f, i, keep, ""})
			}
		}
		if !bytes.HasPrefix(raw, []byte("{")) || !json.Valid(raw) {
			continue
		}
		asking := f.Altered(i, append([]byte(`{"zip":"DEF",`), raw[1:]...))
		for _, j := range f.Encoded() {
			if j != i {
				all = append(all, bombPlace{asking, j, 0, fmt.Sprintf(` beside "zip":"DEF" in segment %d`, i)})
			}
		}
	}
	return all
}

// inflatesElsewhere presents compressed zeros in segments to another process. It compares the
// work with that for as many random bytes.
func (t trial) inflatesElsewhere(in *attack.Instance, tok *attack.Token, f tokenfmt.Format) {
	all, keeps := compressed.Zeros(farBombBytes), make([]int, farBombPlaces)
	for keep := range keeps {
		keeps[keep] = keep
	}
	keeps = append(keeps, behindTags...)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		zeros := all[name]
		for _, at := range bombPlaces(f, keeps) {
			text := at.with(zeros)
			t.Try(codecs.Inert)
			if t.works(func() { in.Unseal(text, tok.Under) }) <= maxForgedTime {
				continue
			}
			other := at.with(t.Bytes(len(zeros)))
			took, otherwise, call := t.beside(in, tok, func() []byte { return text }, other)
			if call.Answer.Outcome != verdict.Refused || took <= maxForgedTime {
				continue
			}
			_, apart, _ := t.beside(in, tok, func() []byte { return other }, other) // excludes garbage of the previous call
			if otherwise = min(otherwise, apart); took > maxSteeredRatio*otherwise {
				t.Refute(codecs.Inert, fmt.Sprintf("refusing %d bytes of %s %s takes %s, and of as many random bytes %s", len(zeros), name, at, took, otherwise), call)
				return
			}
		}
	}
}

// inflates presents compressed zeros in segments in this process, and measures the memory that
// refusing them allocates.
func (t trial) inflates(in *attack.Instance, tok *attack.Token, f tokenfmt.Format) {
	for name, zeros := range packedZeros() {
		for _, at := range bombPlaces(f, []int{0, 4, 16, 32}) {
			text := at.with(zeros)
			var call verdict.Call
			t.Try(codecs.Inert)
			if grown := allocatedBytes(bombMemory, func() { call = in.Ask(text, tok.Under) }); grown > bombMemory && call.Answer.Outcome == verdict.Refused {
				t.Refute(codecs.Inert, fmt.Sprintf("refusing %d bytes of %s %s allocates %d MiB", len(zeros), name, at, grown>>20), call)
				return
			}
		}
	}
}

// runsCode presents serialized objects whose decoding creates a file, in place of each segment
// and inside recognized constructions. Then it checks whether the file exists. The file is
// empty and lies in a temporary folder of its own.
func (t trial) runsCode(in *attack.Instance, tok *attack.Token) {
	dir, err := os.MkdirTemp("", "sealab-inert-")
	if err != nil {
		t.Skip("no folder for the file: %v", err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	mark := filepath.Join(dir, "marker")
	created := func() bool { _, err := os.Stat(mark); return err == nil }
	f := tok.Format()
	c, recognized := f.Recognize(in.Keys[0])
	for name, object := range fileGadgets(mark) {
		texts := [][]byte{object}
		for i, raw := range f.EncodedBytes() {
			texts = append(texts, f.With(i, object), f.With(i, slices.Concat(raw[:min(4, len(raw))], object)))
			if len(raw) > 32 {
				texts = append(texts, f.With(i, slices.Concat(raw[:4], object, raw[len(raw)-32:])), f.With(i, slices.Concat(object, raw[len(raw)-32:])))
			}
		}
		forged := len(texts)
		if recognized {
			texts = append(texts, c.Seal(object))
			if len(c.Body) > 4 {
				texts = append(texts, c.Seal(slices.Concat(c.Body[:4], object)))
			}
		}
		for k, text := range texts {
			t.Try(codecs.Inert)
			call := in.Unseal(text, tok.Under)
			if !created() {
				continue
			}
			t.Refute(codecs.Inert, "opening a token with a serialized object runs it: "+name, call)
			if k < forged {
				t.RefuteIf(codecs.Integrity, attack.Anything, "a forged token with a serialized object runs it before it is authenticated: "+name, call)
			}
			return
		}
	}
}

// fileGadgets returns serialized objects by name. Each creates an empty file if a reader that
// instantiates arbitrary classes decodes it.
func fileGadgets(file string) map[string][]byte {
	return map[string][]byte{
		"Python pickle":     fmt.Appendf(nil, "cbuiltins\nopen\n(V%s\nVw\ntR.", file),
		"YAML of Python":    fmt.Appendf(nil, "!!python/object/apply:builtins.open [%q, w]\n", file),
		"node-serialize":    fmt.Appendf(nil, `{"x":"_$$ND_FUNC$$_function(){require('fs').writeFileSync('%s','')}()"}`, file),
		"jsonpickle":        fmt.Appendf(nil, `{"py/reduce":[{"py/function":"builtins.open"},{"py/tuple":["%s","w"]}]}`, file),
		"JavaScript source": fmt.Appendf(nil, `(function(){require('fs').writeFileSync('%s','')})()`, file),
		"Ruby source":       fmt.Appendf(nil, `File.write(%q, "")`, file),
		"Python source":     fmt.Appendf(nil, `open(%q,"w")`, file),
	}
}
