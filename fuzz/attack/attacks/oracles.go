package attacks

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// oracles are the attacks with the answers to tokens and contexts of the attacker's
// choice.
var oracles = []attack.Attack{
	{ID: "TAG-04", Name: "secrets in the reason of a refusal", Refutes: append([]codecs.Property{codecs.PrivateKeys}, refusals...), Layer: attack.LayerText, CWE: 209,
		Gain: "the right tag, the key or the state", Origin: "CVE-2019-7644", Run: onToken(trial.tellingReasons)},
	{ID: "TAG-08", Name: "a padding oracle", Refutes: refusals, Layer: attack.LayerText, CWE: 209,
		Gain: "the state, byte by byte, and tokens of any content", Origin: "Vaudenay 2002; CVE-2010-3332", Run: onToken(trial.paddingOracle), Thousands: 9},
	{ID: "ORA-02", Name: "a judgement before authentication", Refutes: refusals, Layer: attack.LayerContext, CWE: 696,
		Gain: "the values that an unauthenticated token is compared with", Origin: "the order of checks in verification", Run: onToken(trial.earlyJudgement)},
	{ID: "ORA-03", Name: "refusals that depend on the state", Refutes: refusals, Layer: attack.LayerContext, CWE: 204,
		Gain: "the state, by comparing refusals", Origin: "reasons that quote the content of a token", Run: onToken(trial.stateInRefusals)},
	{ID: "KEY-10", Name: "a partitioning oracle", Refutes: refusals, Layer: attack.LayerKeys, CWE: 203,
		Gain: "which of the keys is in the ring", Origin: "Len, Grubbs, Ristenpart 2021", Run: on(trial.partitioning)},
	{ID: "ORA-01", Name: "a published value is a tag of the attacker's text", Refutes: []codecs.Property{codecs.Integrity, codecs.KeySeparation}, Layer: attack.LayerOracle, CWE: 323,
		Gain: "a token with any state and expiry", Origin: "one MAC key for two purposes", Run: onToken(trial.macOracle)},
	{ID: "LNK-01", Name: "tokens of one principal are recognized", Refutes: []codecs.Property{codecs.Unlinkable}, Layer: attack.LayerOracle, CWE: 359,
		Gain: "which tokens belong to one principal", Origin: "unsalted digests of principals", Run: onToken(trial.linkable)},
}

// tellingReasons looks for the tag, the key and the state in reasons and texts, and for
// hashes of the key.
func (t trial) tellingReasons(in *attack.Instance, tok *attack.Token) {
	f, raw, digests := tok.Format(), tok.Bytes(), digestsOf(in.Keys[0])
	secrets := map[string][]byte{"the key": in.Keys[0], "the state": attack.LettersOf(tok.State), "the first half of the key": in.Keys[0][:16]}
	var tags []int // lengths
	for _, n := range []int{32, 16} {
		if len(raw) > n && len(tokenfmt.Find(raw[len(raw)-n:], attack.LettersOf(tok.State))) == 0 {
			tags = append(tags, n)
		}
	}
	for _, i := range f.Encoded() {
		bytesOf := f.Segments[i].Bytes
		places := t.Places(len(bytesOf)-1, 12)
		for _, n := range tags {
			places = append(places, max(0, len(bytesOf)-n)) // where a tag may begin
		}
		for _, at := range places {
			altered := bytes.Clone(bytesOf)
			altered[min(at, len(altered)-1)] ^= 0x55
			presented := f.Altered(i, altered)
			call := in.Unseal(presented.Text(), tok.Under)
			t.telling(call, secrets)
			for _, n := range tags {
				if part := rightPart(call, raw, presented.Bytes(), n); part != "" {
					t.tellsAgain(in, tok, call, part, codecs.UniformRefusal, fmt.Sprintf("a part of the right tag of %d bytes", n))
				}
			}
			t.Try(codecs.PrivateKeys)
			for _, name := range slices.Sorted(maps.Keys(digests)) {
				if part := hex.EncodeToString(digests[name]); strings.Contains(saidBy(call), part) {
					t.tellsAgain(in, tok, call, part, codecs.PrivateKeys, name+" of the key")
				}
			}
		}
	}
	for _, c := range otherContexts(tok.Under) {
		t.telling(in.Unseal(tok.Text, c), secrets)
	}
	t.keysInRefusals(in, tok)
	owner := t.Letters(24)
	if owned, ok := in.Mint(t.State(8), fields[principal].put(tok.Under, string(owner))); ok {
		for _, c := range otherContexts(tok.Under) {
			t.telling(in.Unseal(owned.Text, c), map[string][]byte{"the principal of the token": owner})
		}
	}
}

// keyLong matches a text as long as 32 bytes in base64, which hexadecimal is as well.
var keyLong = regexp.MustCompile(`[0-9A-Za-z+/_-]{43,}`)

// keysInRefusals presents texts that hold no token, and altered tokens, to handles of one
// key and of another. A long value that the refusals of two texts show under the one key
// alone was derived from it.
func (t trial) keysInRefusals(in *attack.Instance, tok *attack.Token) {
	again, errAgain := t.Open(t.Secret(0))
	other, err := t.Open(t.Secret(1))
	if errAgain != nil || err != nil {
		return
	}
	prefix := t.prefixOf(tok)
	for _, texts := range [][2][]byte{{[]byte("x"), nil}, {[]byte(prefix + "AAAA"), []byte(prefix + strings.Repeat("A", 200))}, {t.forgery(in, 24), t.forgery(in, 30)}} {
		t.Try(codecs.UniformRefusal)
		call := in.Unseal(texts[0], tok.Under)
		for _, value := range keyLong.FindAllString(saidBy(call), -1) {
			shows := func(in *attack.Instance, text []byte) bool {
				return strings.Contains(saidBy(in.Unseal(text, tok.Under)), value)
			}
			if !strings.Contains(strings.ToLower(string(texts[0])), value) && shows(in, texts[1]) && shows(again, texts[0]) &&
				!shows(other, texts[0]) && !shows(other, t.forgery(other, 24)) {
				t.Refute(codecs.UniformRefusal, "the reason of a refusal holds a value of the key, and of no token: "+value, call)
			}
		}
	}
}

// forgery returns a new token of an instance with one bit changed; nil if it has no bytes.
func (t trial) forgery(in *attack.Instance, letters int) []byte {
	tok, ok := t.Mint(in, t.State(letters))
	if !ok {
		return nil
	}
	return lastAltered(tok)
}

// saidBy returns what a refusal says, in small letters.
func saidBy(call verdict.Call) string {
	if call.Answer.Outcome != verdict.Refused {
		return ""
	}
	return strings.ToLower(call.Answer.Reason + " " + call.Answer.Text)
}

// rightPart returns 8 characters or more of the right tag, the last n bytes of raw, that a
// refusal shows and the presented token does not hold.
func rightPart(call verdict.Call, raw, presented []byte, n int) string {
	const enough = 8
	said := saidBy(call)
	if said == "" || len(presented) < n {
		return ""
	}
	known := strings.ToLower(string(call.Token) + " " + hex.EncodeToString(presented))
	for _, encode := range []func([]byte) string{hex.EncodeToString, base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString} {
		right, held := strings.ToLower(encode(raw[len(raw)-n:])), known+" "+strings.ToLower(encode(presented[len(presented)-n:]))
		for at := range len(right) - enough + 1 {
			if part := right[at : at+enough]; strings.Contains(said, part) && !strings.Contains(held, part) {
				return part
			}
		}
	}
	return ""
}

// tellsAgain presents a token again. Random characters of a refusal do not return.
func (t trial) tellsAgain(in *attack.Instance, tok *attack.Token, call verdict.Call, part string, p codecs.Property, what string) {
	again := in.Unseal(call.Token, tok.Under)
	if strings.Contains(saidBy(again), part) {
		t.Refute(p, "the reason of a refusal holds "+what, call, again)
	}
}

// otherContexts returns contexts in which a token for c is refused if at all.
func otherContexts(c codecs.Context) []codecs.Context {
	return []codecs.Context{
		fields[principal].put(c, "mallory"), fields[target].put(c, "other"), fields[audience].put(c, "elsewhere"),
		attack.Later(c, 100*365*24*time.Hour),
	}
}

func (t trial) telling(call verdict.Call, secrets map[string][]byte) {
	if call.Answer.Outcome != verdict.Refused {
		return
	}
	t.Try(codecs.UniformRefusal)
	said := saidBy(call)
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		for _, text := range printed(secrets[name]) {
			if strings.Contains(said, strings.ToLower(text)) {
				t.Refute(codecs.UniformRefusal, "the reason of a refusal holds "+name, call)
			}
		}
	}
}

// printed returns the texts by which bytes may be printed, cut to a length that does not
// occur by chance.
func printed(b []byte) []string {
	all := []string{string(b), hex.EncodeToString(b), base64.StdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b),
		strings.Trim(fmt.Sprint(b), "[]")}
	for i := range all {
		all[i] = all[i][:min(len(all[i]), 16)]
	}
	return all
}

// padded are the places, counted from the end of the bytes of a token, at which a change
// may reach padding: last bytes of blocks of 16 first, with a tag of 16 or 32 bytes
// behind them, or no tag.
var padded = placesByBlock(34, 16)

func placesByBlock(n, block int) (places []int) {
	for first := 1; first <= block; first++ {
		for back := first; back <= n; back += block {
			places = append(places, back)
		}
	}
	return places
}

// paddingOracle changes one byte of unreadable bytes to every value and expects one
// answer for all of them.
func (t trial) paddingOracle(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		t.Skip("the state is readable: nothing is decrypted")
		return
	}
	f := tok.Format()
	at := f.Encoded()
	if len(at) == 0 {
		t.Skip("no segment of the token is in a known encoding")
		return
	}
	i := slices.MaxFunc(at, func(a, b int) int { return len(f.Segments[a].Bytes) - len(f.Segments[b].Bytes) })
	raw := f.Segments[i].Bytes
	for _, back := range padded[:max(1, min(len(padded), t.Budget.Unseals/256))] {
		if back > len(raw)-20 {
			continue
		}
		said, answers := t.refusals(in, tok, i, back), map[string]verdict.Call{}
		for _, call := range said {
			answers[refusalOf(call)] = call
		}
		if len(answers) > 1 && !t.ofText(in, tok, i, back, said) {
			t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("one byte of the ciphertext, %d from the end, set to each value, is refused in %d ways", back, len(answers)), callsOf(answers)...)
			return
		}
	}
}

// refusals sets one byte of segment i, counted from its end, to every other value, and
// returns the refusals by the value.
func (t trial) refusals(in *attack.Instance, tok *attack.Token, i, back int) map[byte]verdict.Call {
	f, said := tok.Format(), map[byte]verdict.Call{}
	altered := bytes.Clone(f.Segments[i].Bytes)
	at := len(altered) - back
	honest := altered[at]
	for v := 1; v < 256; v++ {
		altered[at] = honest ^ byte(v)
		if call := in.Unseal(f.With(i, altered), tok.Under); call.Answer.Outcome == verdict.Refused {
			said[altered[at]] = call
		}
		t.Try(codecs.UniformRefusal)
	}
	return said
}

// ofText reports whether refusals depend on the value of a byte alone: another state gives
// the same. So it is where a segment holds text, as hexadecimal within JSON. What a
// decrypted byte decides differs from token to token.
func (t trial) ofText(in *attack.Instance, tok *attack.Token, i, back int, said map[byte]verdict.Call) bool {
	other, ok := in.Mint(t.State(len(tok.State)-len(t.State(0))), tok.Under)
	if !ok || len(other.Text) != len(tok.Text) || len(other.Format().Segments) <= i || len(other.Format().Segments[i].Bytes) < back {
		return false
	}
	for v, call := range t.refusals(in, other, i, back) {
		if first, ok := said[v]; ok && refusalOf(first) != refusalOf(call) {
			return false
		}
	}
	return true
}

// refusalOf returns everything that a refusal says.
func refusalOf(c verdict.Call) string {
	return c.Answer.Stage + "/" + c.Answer.Reason + "/" + c.Answer.Text
}

// callsOf returns up to three of the calls, in the order of their keys.
func callsOf(answers map[string]verdict.Call) []verdict.Call {
	names := slices.Sorted(maps.Keys(answers))
	var calls []verdict.Call
	for _, k := range names[:min(3, len(names))] {
		calls = append(calls, answers[k])
	}
	return calls
}

// earlyJudgement presents tokens that are not authentic in contexts in which an authentic
// one is expired or bound to another value, and compares the texts of refusals.
func (t trial) earlyJudgement(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	texts := map[string]verdict.Call{}
	for _, i := range f.Encoded() {
		for _, at := range t.Places(len(f.Segments[i].Bytes)-1, 24) {
			altered := bytes.Clone(f.Segments[i].Bytes)
			altered[min(at, len(altered)-1)] ^= 1
			t.judgedEarly(in, tok, f.With(i, altered), texts)
		}
	}
	t.judgedEarlyWithLess(in, tok.Under, texts)
	for _, x := range []string{"", "x", "v1.AAAA"} {
		if call := in.Unseal([]byte(x), tok.Under); call.Answer.Outcome == verdict.Refused {
			texts[call.Answer.Text] = call
		}
	}
	if len(texts) > 1 {
		t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("refusals have %d texts", len(texts)), callsOf(texts)...)
	}
}

// judgedEarlyWithLess presents altered tokens of contexts with fewer fields.
func (t trial) judgedEarlyWithLess(in *attack.Instance, under codecs.Context, texts map[string]verdict.Call) {
	if !t.Design.IsScheme() {
		return
	}
	for _, c := range poorest(under) {
		less, ok := in.Mint(t.State(8), c)
		if !ok {
			continue
		}
		f := less.Format()
		for _, i := range f.Encoded() {
			altered := bytes.Clone(f.Segments[i].Bytes)
			altered[len(altered)-1] ^= 1
			t.judgedEarly(in, less, f.With(i, altered), texts)
		}
	}
}

// judgedEarly presents a token that is not authentic in every context, and adds the texts
// of refusals to texts.
func (t trial) judgedEarly(in *attack.Instance, tok *attack.Token, altered []byte, texts map[string]verdict.Call) {
	for _, c := range append(otherContexts(tok.Under), tok.Under) {
		call := in.Unseal(altered, c)
		if call.Answer.Outcome != verdict.Refused {
			continue
		}
		t.Try(codecs.UniformRefusal)
		texts[call.Answer.Text] = call
		if stage := call.Answer.Stage; stage == codecs.Expired.String() || stage == codecs.Misbound.String() {
			t.Refute(codecs.UniformRefusal, "a token that is not authentic is refused as "+stage, tok.Sealed, call)
		}
	}
}

// stateInRefusals refuses tokens of several states in the same ways, and compares the
// refusals: in another context, expired, and altered at one place. The states have one
// length. A difference that tokens of one state show as well is no sign of the state.
func (t trial) stateInRefusals(in *attack.Instance, tok *attack.Token) {
	plain := t.State(24)
	admin := append([]byte(`{"admin":true,"role":"administrator"`)[:len(plain)-1], '}')
	ways := otherContexts(tok.Under)
	if !t.Design.IsScheme() {
		ways = nil
	}
	for way := range len(ways) + 2 {
		same := func(a, b verdict.Call) bool {
			if way >= len(ways) { // an altered token may fail at another stage, which the presenter does not see
				return a.Answer.Text == b.Answer.Text
			}
			return refusalOf(a) == refusalOf(b)
		}
		// refused returns a refusal of tokens of a state, if all of them are refused, and alike.
		refused := func(state []byte) (verdict.Call, bool) {
			var calls [3]verdict.Call
			for k := range calls {
				sealed := in.Seal(state, tok.Under)
				if sealed.Answer.Outcome != verdict.Done {
					return verdict.Call{}, false
				}
				if calls[k] = t.refusedIn(in, sealed.Answer.Out, tok.Under, ways, way); calls[k].Answer.Outcome != verdict.Refused {
					return verdict.Call{}, false
				}
			}
			t.Try(codecs.UniformRefusal)
			return calls[0], same(calls[0], calls[1]) && same(calls[1], calls[2])
		}
		first, ok := refused(plain)
		if !ok {
			continue
		}
		for _, state := range [][]byte{t.State(24), admin, bytes.ToUpper(plain), make([]byte, len(plain))} {
			if other, ok := refused(state); ok && !same(first, other) {
				t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("tokens of two states are refused in two ways: %.120q and %.120q", refusalOf(first), refusalOf(other)), first, other)
				return
			}
		}
	}
}

// refusedIn presents a token in one of the contexts, or with its last byte or its middle
// altered.
func (t trial) refusedIn(in *attack.Instance, text []byte, under codecs.Context, ways []codecs.Context, way int) verdict.Call {
	if way < len(ways) {
		return in.Unseal(text, ways[way])
	}
	altered := bytes.Clone(text)
	at := len(altered) / 2
	if way > len(ways) {
		at = len(altered) - 5
	}
	altered[at] = map[bool]byte{true: 'B', false: 'A'}[altered[at] == 'A']
	return in.Unseal(altered, under)
}

// partitioning presents tokens of keys in the ring and of other keys to a ring, and
// expects no difference in the text that the presenter sees.
func (t trial) partitioning() {
	ring, err := t.Open(t.Secret(0), t.Secret(1), t.Secret(2))
	if err != nil {
		t.Skip("the design takes one key only")
		return
	}
	texts := map[string]verdict.Call{}
	for n := range 5 {
		in, err := t.Open(t.Secret(n))
		if err != nil {
			return
		}
		tok, ok := t.Mint(in, t.State(24))
		if !ok {
			return
		}
		f := tok.Format()
		for _, i := range f.Encoded() {
			altered := bytes.Clone(f.Segments[i].Bytes)
			altered[len(altered)-1] ^= 1
			if call := ring.Unseal(f.With(i, altered), tok.Under); call.Answer.Outcome == verdict.Refused {
				t.Try(codecs.UniformRefusal)
				texts[call.Answer.Text] = call
			}
		}
	}
	if len(texts) > 1 {
		t.RefuteIf(codecs.UniformRefusal, attack.Differ, "the text of a refusal tells whether a key is in the ring", callsOf(texts)...)
	}
}

// perPrincipal is the number of tokens that are minted for each principal. One byte that
// they share is then no chance.
const perPrincipal = 16

// linkable mints for two principals in turn, so that counts and times do not tell them
// apart, and looks for values that all tokens of one share and those of the other do not.
func (t trial) linkable(in *attack.Instance, tok *attack.Token) {
	if tok.Under.Principal == nil {
		t.Skip("the design does not mint for a principal")
		return
	}
	for _, c := range append([]codecs.Context{tok.Under}, poorest(tok.Under)...) {
		if c.Principal != nil && !t.Fell(codecs.Unlinkable) {
			t.linkedIn(in, c)
		}
	}
	if t.Tried(codecs.Unlinkable) == 0 {
		t.Skip("the design does not mint for other principals")
	}
}

// linkedIn is linkable in one context.
func (t trial) linkedIn(in *attack.Instance, c codecs.Context) {
	alice, bob, ok := t.mintsInTurn(in, c)
	if !ok {
		return
	}
	t.Try(codecs.Unlinkable)
	refute := func(format string, args ...any) {
		t.RefuteIf(codecs.Unlinkable, attack.Sealed(3), fmt.Sprintf(format, args...), alice[0].Sealed, alice[1].Sealed, bob[0].Sealed)
	}
	if value, ok := onlyIn(alice, bob); ok {
		refute("every token of a principal holds %.40q, and those of another do not", value)
	}
	each := func(toks []*attack.Token, of func(*attack.Token) []byte) (all [][]byte) {
		for _, tok := range toks {
			all = append(all, of(tok))
		}
		return all
	}
	text := func(tok *attack.Token) []byte { return tok.Text }
	if at, ok := placeOnlyIn(each(alice, text), each(bob, text), 1); ok {
		refute("the tokens of a principal share the character at %d, and those of another share another", at)
	}
	if at, ok := placeOnlyIn(each(alice, (*attack.Token).Bytes), each(bob, (*attack.Token).Bytes), 1); ok {
		refute("the tokens of a principal share byte %d, and those of another share another", at)
	}
}

// mintsInTurn mints tokens for two principals, in pairs of random order.
func (t trial) mintsInTurn(in *attack.Instance, c codecs.Context) (alice, bob []*attack.Token, ok bool) {
	for range perPrincipal {
		names := []string{"alice-1", "bobby-2"}
		first := t.IntN(2)
		for k := range names {
			who := (first + k) % 2
			tok, ok := in.Mint(t.State(24), fields[principal].put(c, names[who]))
			switch {
			case !ok:
				return nil, nil, false
			case who == 0:
				alice = append(alice, tok)
			default:
				bob = append(bob, tok)
			}
		}
	}
	return alice, bob, true
}

// onlyIn finds a value of 4 bytes or more that can be read in all tokens of as and in no
// token of bs.
func onlyIn(as, bs []*attack.Token) ([]byte, bool) {
	holds := func(tok *attack.Token, value []byte) bool {
		return slices.ContainsFunc(tokenfmt.Readings(tok.Text), func(v []byte) bool { return bytes.Equal(v, value) })
	}
	for _, v := range tokenfmt.Readings(as[0].Text) {
		if len(v) < 4 {
			continue
		}
		inAll, inOther := true, false
		for _, a := range as[1:] {
			inAll = inAll && holds(a, v)
		}
		for _, b := range bs {
			inOther = inOther || holds(b, v)
		}
		if inAll && !inOther {
			return v, true
		}
	}
	return nil, false
}

// placeOnlyIn finds a run of n bytes that is one for all of as and one for all of bs, and
// not the same.
func placeOnlyIn(as, bs [][]byte, n int) (int, bool) {
	agree := func(raws [][]byte, at int) bool {
		for _, raw := range raws {
			if at+n > len(raw) || !bytes.Equal(raw[at:at+n], raws[0][at:at+n]) {
				return false
			}
		}
		return true
	}
	for at := 0; at+n <= min(len(as[0]), len(bs[0])); at++ {
		if agree(as, at) && agree(bs, at) && !bytes.Equal(as[0][at:at+n], bs[0][at:at+n]) {
			return at, true
		}
	}
	return 0, false
}
