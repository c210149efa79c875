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
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// tellingReasons looks in reasons and texts of refusals for the tag, the key, the state, and
// hashes of the key.
func (t trial) tellingReasons(in *attack.Instance, tok *attack.Token) {
	f, raw, digests := tok.Format(), tok.Bytes(), digestsOf(in.Keys[0])
	secrets := map[string][]byte{"the key": in.Keys[0], "the state": attack.LettersOf(tok.State), "the first half of the key": in.Keys[0][:16]}
	var tags []int // possible lengths of the tag, in bytes
	for _, n := range []int{32, 16} {
		if len(raw) > n && len(tokenfmt.Find(raw[len(raw)-n:], attack.LettersOf(tok.State))) == 0 {
			tags = append(tags, n)
		}
	}
	for _, i := range f.Encoded() {
		bytesOf := f.Segments[i].Bytes
		places := t.Places(len(bytesOf)-1, 12)
		for _, n := range tags {
			places = append(places, max(0, len(bytesOf)-n)) // a possible start of the tag
		}
		for _, at := range places {
			altered := bytes.Clone(bytesOf)
			altered[at] ^= 0x55
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
	t.statesBesideRefusals(in, tok)
	t.longStatesBesideRefusals(in, tok)
	t.tagsInRefusals(in, tok, tags)
	t.keysInRefusals(in, tok)
	t.placesInRefusals(in, tok)
	for _, f := range []fields.Field{fields.Target, fields.Principal, fields.Audience} {
		value := t.Letters(24)
		if bound, ok := in.Mint(t.State(8), f.Put(tok.Under, string(value))); ok {
			for _, c := range otherContexts(tok.Under) {
				t.telling(in.Unseal(bound.Text, c), map[string][]byte{"the " + f.Name + " of the token": value})
			}
		}
	}
}

// tagsInRefusals presents tokens with a tag of another length and looks for the right tag in
// the refusals. It tries each of the given tag lengths.
func (t trial) tagsInRefusals(in *attack.Instance, tok *attack.Token, tags []int) {
	f, raw := tok.Format(), tok.Bytes()
	last, ok := f.LastEncoded()
	if !ok {
		return
	}
	bytesOf := f.Segments[last].Bytes
	for _, n := range tags {
		if n > len(bytesOf) {
			continue
		}
		body, tag := bytesOf[:len(bytesOf)-n], bytesOf[len(bytesOf)-n:]
		for _, other := range [][]byte{nil, {tag[0] ^ 1}, t.Bytes(n - 1), t.Bytes(n + 1), t.Bytes(2 * n)} {
			presented := f.Altered(last, slices.Concat(body, other))
			call := in.Unseal(presented.Text(), tok.Under)
			t.Try(codecs.UniformRefusal)
			if part := rightPart(call, raw, presented.Bytes(), n); part != "" {
				t.tellsAgain(in, tok, call, part, codecs.UniformRefusal, fmt.Sprintf("a part of the right tag of %d bytes for one of %d", n, len(other)))
			}
		}
	}
}

// statesBesideRefusals looks for states in the other values of a refusal, alone and in a batch
// with accepted tokens. If tokens are readable, they tell the state already.
func (t trial) statesBesideRefusals(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		return
	}
	altered := lastAltered(tok)
	for _, c := range append(otherContexts(tok.Under), tok.Under) {
		own, ok := in.Mint(t.State(24), c)
		if !ok {
			continue
		}
		texts := [][]byte{tok.Text, own.Text, tok.Text, altered}
		for _, call := range in.UnsealTogether(texts, c) {
			t.besideRefusal("in a batch, a", call, tok, own)
		}
		for _, text := range texts {
			t.besideRefusal("a", in.Unseal(text, c), tok, own)
		}
	}
}

// longStatesBesideRefusals cuts and alters long tokens, alone and in a batch. A reader that opens
// a token piece by piece may return the pieces before the one that it refuses.
func (t trial) longStatesBesideRefusals(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		return
	}
	for _, n := range []int{attack.LongState, attack.LongerState} {
		if 2*n > t.Budget.Bytes {
			return
		}
		long, ok := in.Mint(t.State(n), tok.Under)
		if !ok {
			return
		}
		texts := spoiled(long.Format())
		for _, call := range in.UnsealTogether(texts, tok.Under) {
			t.besideRefusal("in a batch, a", call, long)
		}
		for _, text := range texts {
			t.besideRefusal("a", in.Unseal(text, tok.Under), long)
		}
	}
}

// spoiled returns tokens with the middle or the last segment cut or altered.
func spoiled(f tokenfmt.Format) (texts [][]byte) {
	at := f.Encoded()
	if len(at) == 0 {
		return nil
	}
	for _, i := range slices.Compact([]int{at[len(at)/2], at[len(at)-1]}) {
		raw := f.Segments[i].Bytes
		texts = append(texts, f.Flip(i, 8*len(raw)-1).Text, f.Flip(i, 4*len(raw)).Text, f.With(i, raw[:len(raw)-1]), f.With(i, raw[:len(raw)/2]))
	}
	return texts
}

// partsOf returns the letters of a state, or some parts of them if they are many.
func partsOf(state []byte) [][]byte {
	const part, parts = 24, 8
	letters := attack.LettersOf(state)
	if len(letters) < part*parts {
		return [][]byte{letters}
	}
	var some [][]byte
	for k := range parts {
		at := k * len(letters) / parts
		some = append(some, letters[at:at+part])
	}
	return some
}

// besideRefusal refutes if a refusal carries the state of one of the tokens, or a part of it.
func (t trial) besideRefusal(a string, call verdict.Call, tokens ...*attack.Token) {
	if call.Answer.Outcome != verdict.Refused {
		return
	}
	t.Try(codecs.UniformRefusal)
	readings := tokenfmt.Readings(call.Answer.Out)
	shown := func(part []byte) bool {
		return slices.ContainsFunc(readings, func(r []byte) bool { return bytes.Contains(r, part) })
	}
	for _, tok := range tokens {
		if slices.ContainsFunc(partsOf(tok.State), shown) {
			t.Refute(codecs.UniformRefusal, a+" refusal carries the state of a token", tok.Sealed, call)
		}
	}
}

// keyLong matches a text as long as 32 bytes in base64. Hexadecimal matches as well.
var keyLong = regexp.MustCompile(`[0-9A-Za-z+/_-]{43,}`)

// keysInRefusals presents texts that are not tokens, and altered tokens, to handles of two
// keys. A long value that two texts show under one key but not under the other derives from
// that key.
func (t trial) keysInRefusals(in *attack.Instance, tok *attack.Token) {
	again, other, ok := t.pair(t.Secret(0), t.Secret(1))
	if !ok {
		return
	}
	prefix := t.PrefixOf(tok)
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

// placesInRefusals alters each of the last bytes of a token in two ways. If reasons depend on
// the position but not on the alteration, they reveal the right tag byte by byte. A reason that
// quotes the presented token differs between the two alterations.
func (t trial) placesInRefusals(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	last, ok := f.LastEncoded()
	if !ok {
		return
	}
	reasons := map[string]verdict.Call{}
	for back := 1; back <= min(8, len(f.Segments[last].Bytes)); back++ {
		var calls [2]verdict.Call
		for way := range calls {
			calls[way] = in.Unseal(f.Flip(last, 8*(len(f.Segments[last].Bytes)-back)+way).Text, tok.Under)
		}
		t.Try(codecs.UniformRefusal)
		if calls[0].Answer.Outcome != verdict.Refused || refusalOf(calls[0]) != refusalOf(calls[1]) || calls[0].Answer.Stage != codecs.Unauthentic.String() {
			return
		}
		reasons[calls[0].Answer.Reason] = calls[0]
	}
	if len(reasons) > 2 {
		t.RefuteIf(codecs.UniformRefusal, attack.Differ, "the reason of a refusal reveals the place at which a tag is wrong", callsOf(reasons)...)
	}
}

// forgery returns a new token of an instance with one bit changed, or nil if the token has no
// bytes.
func (t trial) forgery(in *attack.Instance, letters int) []byte {
	tok, ok := t.Mint(in, t.State(letters))
	if !ok {
		return nil
	}
	return lastAltered(tok)
}

// saidBy returns the reason and text of a refusal, in lower case.
func saidBy(call verdict.Call) string {
	if call.Answer.Outcome != verdict.Refused {
		return ""
	}
	return strings.ToLower(call.Answer.Reason + " " + call.Answer.Text)
}

// rightPart returns at least 8 characters of the right tag that a refusal shows and that the
// presented token does not contain. The right tag is the last n bytes of raw.
func rightPart(call verdict.Call, raw, presented []byte, n int) string {
	const enough = 8
	said := saidBy(call)
	if said == "" {
		return ""
	}
	known := strings.ToLower(string(call.Token) + " " + hex.EncodeToString(presented))
	for _, encode := range []func([]byte) string{hex.EncodeToString, base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString} {
		right, held := strings.ToLower(encode(raw[len(raw)-n:])), known+" "+strings.ToLower(encode(presented[max(0, len(presented)-n):]))
		for at := range len(right) - enough + 1 {
			if part := right[at : at+enough]; strings.Contains(said, part) && !strings.Contains(held, part) {
				return part
			}
		}
	}
	return ""
}

// tellsAgain presents a token again and refutes p if the refusal shows part again. This rules
// out random characters.
func (t trial) tellsAgain(in *attack.Instance, tok *attack.Token, call verdict.Call, part string, p codecs.Property, what string) {
	if again := in.Unseal(call.Token, tok.Under); strings.Contains(saidBy(again), part) {
		t.Refute(p, "the reason of a refusal holds "+what, call, again)
	}
}

// otherContexts returns contexts in which a token for c is refused, unless the design does not
// bind the field.
func otherContexts(c codecs.Context) []codecs.Context {
	return []codecs.Context{
		fields.Principal.Put(c, "mallory"), fields.Target.Put(c, "other"), fields.Audience.Put(c, "elsewhere"),
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
		for _, text := range printedForms(secrets[name]) {
			if strings.Contains(said, strings.ToLower(text)) {
				t.Refute(codecs.UniformRefusal, "the reason of a refusal holds "+name, call)
			}
		}
	}
}

// printedForms returns the ways in which bytes may be printed, truncated to a length that does not
// occur by chance.
func printedForms(b []byte) []string {
	all := []string{string(b), hex.EncodeToString(b), base64.StdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b),
		strings.Trim(fmt.Sprint(b), "[]")}
	for i := range all {
		all[i] = all[i][:min(len(all[i]), 16)]
	}
	return all
}
