package cases

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// baseTime is the time at which bases are minted. Its fraction distinguishes formats that keep fractions
// from formats that drop them.
var baseTime = time.Unix(1795132800, 250_000_000)

// TTL is the time to live of bases.
const TTL = 10 * time.Minute

// OptionReading is the option that selects the reading of an SDK's format: strict or sdk.
const OptionReading = "reading"

// optionMode is the option that selects another wire format, which has its own vectors.
const optionMode = "mode"

// Readings returns the readings of the design's format except the default.
func Readings(d *codecs.Design) []string {
	for _, o := range d.Options {
		if o.Name == OptionReading {
			return o.Values[1:]
		}
	}
	return nil
}

// Bases returns the sound tokens from which the cases of a design are derived. If brief is true, it
// returns only the first, because the vectors of another design hold the other cases.
func Bases(d *codecs.Design, brief bool) []*Base {
	bases := codecBases(d)
	if d.IsScheme() {
		bases = schemeBases(d)
	}
	if brief {
		bases[0].Try = []Family{fieldCases, keyRingCases}
		return bases[:1]
	}
	if lab.HooksOf(*d).FewVectors {
		bases[0].Try = fewFamilies
		return append(append(bases[:1], soundBases(bases[1:])...), fewOptionBases(d)...)
	}
	bases[0].Try = allFamilies
	bases = append(bases, optionBases(d)...)
	if d.KeySize == 0 {
		bases = append(bases, longBase(*bases[0]))
	}
	return bases
}

// soundBases returns the bases of payloads below 1,000 bytes, without families.
func soundBases(bases []*Base) []*Base {
	var kept []*Base
	for _, b := range bases {
		if len(b.Payload) < 1000 {
			b.Try = nil
			kept = append(kept, b)
		}
	}
	return kept
}

// longBase returns the first base under a key that HMAC hashes before use.
func longBase(b Base) *Base {
	b.Name, b.Doc = "long-key", "sealed under a key longer than a block of SHA-256"
	b.Keys, b.Try = []string{"long"}, []Family{longKeys}
	return &b
}

// Ring returns the names of the keys of a design's bases. It returns one name
// if the design takes one key only.
func Ring(d *codecs.Design) []string {
	if d.MaxKeys == 1 {
		return []string{"k1"}
	}
	return []string{"k1", "k2", "k3"}
}

func codecBases(d *codecs.Design) []*Base {
	bases := []*Base{codecBase(d, "base", "a small JSON payload", []byte(`{"step":1,"of":3}`))}
	for _, n := range payloadLengths {
		payload := NewStream(fmt.Sprintf("sealab-vectors/1 payload %d", n)).Bytes(n)
		b := codecBase(d, fmt.Sprintf("length-%d", n), fmt.Sprintf("a payload of %d bytes", n), payload)
		b.Try = []Family{tailBits}
		bases = append(bases, b)
	}
	for _, fill := range []byte{0x00, 0xff, '='} {
		payload := []byte(strings.Repeat(string([]byte{fill}), 33))
		bases = append(bases, codecBase(d, fmt.Sprintf("fill-%02x", fill), fmt.Sprintf("33 bytes %02x", fill), payload))
	}
	return bases
}

// payloadLengths are payload lengths in bytes. They cover each remainder of the text
// encoding and of the cipher blocks, and one text above 4,096 characters.
var payloadLengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 255, 256, 1000, 3200}

func codecBase(d *codecs.Design, name, doc string, payload []byte) *Base {
	return &Base{Name: name, Doc: doc, Setting: Setting{Keys: Ring(d)}, Payload: payload}
}

// baseContext returns the binding of the first base of a scheme.
func baseContext() codecs.Context {
	return codecs.Context{
		Now:    baseTime,
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"prod","count":3,"tags":["a","b"]}`),
		Principal: new(`["client-1","https://as.example","alice"]`), Audience: new("https://srv.example"),
	}
}

func schemeBase(d *codecs.Design, name, doc, state string, change func(*Setting)) *Base {
	set := Setting{Keys: Ring(d), TTL: TTL, Context: baseContext()}
	if change != nil {
		change(&set)
	}
	return &Base{Name: name, Doc: doc, Setting: set, Payload: []byte(state)}
}

func schemeBases(d *codecs.Design) []*Base {
	bases := []*Base{schemeBase(d, "base", "a small JSON state, everything bound", `{"step":1,"of":3}`, nil)}
	for i, state := range awkwardStates {
		b := schemeBase(d, fmt.Sprintf("state-%d", i), fmt.Sprintf("the state %.40q", state), state, nil)
		if state == "" {
			b.Try = []Family{lastMissing}
		}
		bases = append(bases, b)
	}
	for _, n := range []int{0, 1, 2, 30, 62, 253, 254, 255, 3200} {
		state := `"` + strings.Repeat("x", n) + `"`
		b := schemeBase(d, fmt.Sprintf("length-%d", len(state)), fmt.Sprintf("a state of %d bytes", len(state)), state, nil)
		b.Try = []Family{tailBits}
		bases = append(bases, b)
	}
	for _, set := range otherSettings {
		b := schemeBase(d, set.name, set.doc, `{"step":1}`, set.change)
		if set.try != nil {
			b.Try = []Family{set.try}
		}
		bases = append(bases, b)
	}
	return bases
}

// awkwardStates are texts that some formats alter or cannot carry.
var awkwardStates = []string{
	"", " ", "x", `""`, "null", "true", "0", "-0", "1.0", "1e400", "12345678901234567890", "[]", "{}", `[1, 2]`,
	`{"a":1,"a":2}`, `{"b":1,"a":2}`, `"\u00e9"`, `"é😀"`, `"\ud83d\ude00"`, `"\u2028"`, "\"\u2028\"", `"</script>"`, `"\/"`,
	`{"__proto__":{"x":1}}`, `{"toString":1}`, "a\x00b", "\x00", "\x7f", "é", "😀", "\ufeff", "\xff", "\xed\xa0\x80", "a\nb",
	`"\ud800"`, `{"exp":1}`, `{"p":1,"exp":99999999999}`,
}

// optionBases returns sound tokens for each value of each option, except
// defaults.
func optionBases(d *codecs.Design) []*Base {
	var bases []*Base
	for _, o := range d.Options {
		if o.Name == OptionReading || o.Name == optionMode {
			continue // every test has all readings; another mode is another format
		}
		for _, value := range o.Values[1:] {
			for _, b := range optionBase(d, fmt.Sprintf("option-%s-%s", caseName(o.Name), caseName(value)), fmt.Sprintf("option %s is %s", o.Name, value)) {
				b.Options = map[string]string{o.Name: value}
				bases = append(bases, b)
			}
		}
	}
	return bases
}

// fewOptionBases returns a sound token for each value of each option. Each is read in other contexts that
// the option binds, and with other claims.
func fewOptionBases(d *codecs.Design) []*Base {
	var bases []*Base
	for _, b := range optionBases(d) {
		if !strings.HasSuffix(b.Name, "-text") {
			b.Try = []Family{addedContexts, fewAddedClaims}
			bases = append(bases, b)
		}
	}
	return bases
}

// optionBase returns the bases of one option value. It returns two for a scheme, because variants of a
// scheme support different arguments.
func optionBase(d *codecs.Design, name, doc string) []*Base {
	if !d.IsScheme() {
		return []*Base{codecBase(d, name, doc, []byte(`{"step":1,"of":3}`))}
	}
	object := schemeBase(d, name, doc, `{"step":1,"of":3}`, nil)
	object.Try = []Family{allContextCases, addedClaimCases, oracleCases}
	text := schemeBase(d, name+"-text", doc+", and the arguments are a text", `{"step":1}`, func(s *Setting) {
		s.Context.Arguments = json.RawMessage(`"5"`)
	})
	text.Try = []Family{contextsAbout("arguments-")}
	return []*Base{object, text}
}

// caseName returns text as part of a case name.
func caseName(text string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, text)
	return strings.Trim(strings.ReplaceAll(out, "--", "-"), "-")
}
