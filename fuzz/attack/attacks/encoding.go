package attacks

import (
	"bytes"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
)

// encodingAttacks are the attacks that change the text of a token but not its bytes.
var encodingAttacks = []attack.Attack{
	{ID: "ENC-01", Name: "unused bits of the last character", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 1289, Gain: gainSpelling,
		Origin: "RFC 4648, section 3.5; golang-jwt pull request 259; PASETO test vector 4-F-4", Run: presentSpellings(tokenfmt.UnusedBits)},
	{ID: "ENC-02", Name: "the other base64 alphabet", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 1289, Gain: gainSpelling,
		Origin: "lestrrat-go/jwx decodes both alphabets by default; vector decoders of base64", Run: onTrial(trial.otherAlphabet)},
	{ID: "ENC-03", Name: "padding added and dropped", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 1289, Gain: gainSpelling,
		Origin: "PASETO test vector 4-F-5", Run: presentSpellings(tokenfmt.Padding), Hundreds: 1},
	{ID: "ENC-04", Name: "white space and line breaks", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 1289, Gain: gainSpelling,
		Origin: "go-jose issues 237, 244, 280; encoding/base64 skips CR and LF", Run: presentSpellings(tokenfmt.WhiteSpace), Hundreds: 7},
	{ID: "ENC-05", Name: "case, ASCII look-alikes, percent escapes, forms of numbers", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 178, Gain: gainSpelling,
		Origin: "RFC 3986, section 2.1; case-insensitive readers of hexadecimal and base32; parsers of numbers", Run: presentSpellings(tokenfmt.LetterCase, tokenfmt.NumberForms, tokenfmt.Overflows, tokenfmt.LookAlikes), Hundreds: 13},
	{ID: "ENC-06", Name: "NUL, byte order mark, Unicode look-alikes, invalid UTF-8", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 158, Gain: gainSpelling,
		Origin: "CVE-2009-2408; latin1 in Node.js, which cuts code points to a byte", Run: presentSpellings(tokenfmt.ForeignCharacters, tokenfmt.SameLowBytes), Hundreds: 16},
	{ID: "ENC-07", Name: "another serialization or compression of the same parts", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 436,
		Gain:   "a token from which two readers take different states",
		Origin: "CVE-2022-39227", Run: presentSpellings(tokenfmt.OtherSerialization, tokenfmt.BinaryForms, tokenfmt.Recompressed), Hundreds: 3},
	{ID: "ENC-08", Name: "data after the end of the token", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 1286, Gain: gainSpelling,
		Origin: "fernet-go accepts a further character and a further segment", Run: onTrial(trial.trailingData), Hundreds: 10},
	{ID: "ENC-09", Name: "longer encodings of numbers and lengths under the tag", Refutes: spellingProperties, Layer: attack.LayerReseal, CWE: 1289, Gain: gainSpelling,
		Origin: "DER and CBOR, which have one shortest form",
		Dropped: "the contents are authenticated: only the server can write them in another form, and each token " +
			"still has a single text"},
}

// trailingData presents tokens with more data, and one token with many numbers of bytes inserted.
func (t trial) trailingData() {
	t.everyLength(func(in *attack.Instance, tok *attack.Token) { t.spellings(in, tok, tokenfmt.TrailingData) })
	if in, tok, ok := t.Base(); ok {
		t.spellings(in, tok, tokenfmt.Insertions)
		t.spellings(in, tok, tokenfmt.EmptyPackets)
	}
}

// otherAlphabet presents tokens that contain a character in which the base64 alphabets differ.
func (t trial) otherAlphabet() {
	t.everyLength(func(in *attack.Instance, tok *attack.Token) {
		t.spellings(in, t.inOneAlphabet(in, tok), tokenfmt.OtherAlphabet)
	})
	if t.Tried(codecs.Canonical) == 0 && !t.Skipped() {
		t.Skip("no token has a character in which the base64 alphabets differ")
	}
}

// inOneAlphabet returns tok, or another one of its context if it has no character in which the base64 alphabets
// differ.
func (t trial) inOneAlphabet(in *attack.Instance, tok *attack.Token) *attack.Token {
	for range 20 {
		if bytes.ContainsAny(tok.Text, "-_+/") {
			break
		}
		if next, ok := in.Mint(t.State(24), tok.Under); ok {
			tok = next
		}
	}
	return tok
}
