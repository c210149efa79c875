package attack

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/verdict"
)

var refusals = []codecs.Property{codecs.UniformRefusal}

// onOracles are the attacks with what the subject says about tokens and
// contexts of the attacker's choice.
var onOracles = []Refuter{
	{ID: "TAG-04", Name: "secrets in the reason of a refusal", Refutes: refusals, Layer: LayerText,
		Gain: "the right tag, the key or the state", Origin: "CVE-2019-7644", Run: tellingReasons},
	{ID: "TAG-08", Name: "a padding oracle", Refutes: refusals, Layer: LayerText,
		Gain: "the state, byte by byte, and tokens of any content", Origin: "Vaudenay 2002; CVE-2010-3332", Run: paddingOracle, Thousands: 9},
	{ID: "ORA-02", Name: "a judgement before authentication", Refutes: refusals, Layer: LayerContext,
		Gain: "what an unauthenticated token is compared with", Origin: "the order of checks in verification", Run: earlyJudgement},
	{ID: "KEY-10", Name: "a partitioning oracle", Refutes: refusals, Layer: LayerKeys,
		Gain: "which of the keys is in the ring", Origin: "Len, Grubbs, Ristenpart 2021", Run: partitioning},
	{ID: "ORA-01", Name: "a published value is a tag of the attacker's text", Refutes: []codecs.Property{codecs.Integrity, codecs.KeySeparation}, Layer: LayerOracle,
		Gain: "a token with any state and expiry", Origin: "one MAC key for two purposes", Run: macOracle},
	{ID: "LNK-01", Name: "tokens of one principal are recognised", Refutes: []codecs.Property{codecs.Unlinkable}, Layer: LayerOracle,
		Gain: "which tokens belong to one principal", Origin: "unsalted digests of principals", Run: linkable},
}

// tellingReasons looks for the tag, the key and the state in reasons and texts.
func tellingReasons(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	raw := tok.raws()
	secrets := map[string][]byte{"the key": p.keys[0], "the state": tok.State[9 : len(tok.State)-2], "the key's first half": p.keys[0][:16]}
	for _, n := range []int{32, 16} {
		if len(raw) > n && !t.readable(&Token{Text: raw[len(raw)-n:], State: tok.State}) {
			secrets[fmt.Sprintf("the tag of %d bytes", n)] = raw[len(raw)-n:]
		}
	}
	s := tok.shape()
	for _, i := range s.coded() {
		for _, at := range t.places(len(s.pieces[i].raw)-1, 12) {
			altered := bytes.Clone(s.pieces[i].raw)
			altered[min(at, len(altered)-1)] ^= 0x55
			t.telling(p.unseal(s.with(i, altered), tok.Under), secrets)
		}
	}
	for _, c := range otherContexts(tok.Under) {
		t.telling(p.unseal(tok.Text, c), secrets)
	}
}

// otherContexts are contexts in which a token for c is refused if at all.
func otherContexts(c verdict.Context) []verdict.Context {
	return []verdict.Context{
		with(c, func(c *verdict.Context) { c.Principal = text("mallory") }),
		with(c, func(c *verdict.Context) { c.Target = "other" }),
		with(c, func(c *verdict.Context) { c.Audience = text("elsewhere") }),
		with(c, func(c *verdict.Context) { c.Now = c.Now.Add(100 * 365 * 24 * time.Hour) }),
	}
}

func (t *Trial) telling(call verdict.Call, secrets map[string][]byte) {
	if call.Answer.Outcome != verdict.Refused {
		return
	}
	t.try(codecs.UniformRefusal)
	said := call.Answer.Reason + " " + call.Answer.Text
	for _, name := range sorted(secrets) {
		for _, spelled := range spelled16(secrets[name]) {
			if strings.Contains(strings.ToLower(said), strings.ToLower(spelled)) {
				t.refute(codecs.UniformRefusal, "the reason of a refusal holds "+name, call)
			}
		}
	}
}

// spelled16 are the texts by which bytes may be printed, cut to what cannot
// come by chance.
func spelled16(b []byte) []string {
	all := []string{string(b), hex.EncodeToString(b), base64.StdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b),
		strings.Trim(fmt.Sprint(b), "[]")}
	for i := range all {
		all[i] = all[i][:min(len(all[i]), 16)]
	}
	return all
}

func sorted(m map[string][]byte) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// padded are the places, counted from the end of a token's bytes, at which a
// change may reach padding: last bytes of blocks of 16 first, with a tag of 16 or
// 32 bytes or none after them.
var padded = placesByBlock(34, 16)

func placesByBlock(n, block int) (places []int) {
	for first := 1; first <= block; first++ {
		for back := first; back <= n; back += block {
			places = append(places, back)
		}
	}
	return places
}

// paddingOracle changes one byte of what is not readable to every value and
// expects one answer for all of them.
func paddingOracle(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.readable(tok) {
		t.skip("the state is readable: nothing is decrypted")
		return
	}
	s := tok.shape()
	at := s.coded()
	if len(at) == 0 {
		t.skip("no piece of the token is in a known text code")
		return
	}
	i := slices.MaxFunc(at, func(a, b int) int { return len(s.pieces[a].raw) - len(s.pieces[b].raw) })
	raw := s.pieces[i].raw
	for _, back := range padded[:max(1, min(len(padded), t.Budget.Unseals/256))] {
		if back > len(raw)-20 {
			continue
		}
		answers := map[string]verdict.Call{}
		for v := range 256 {
			altered := bytes.Clone(raw)
			altered[len(raw)-back] ^= byte(v)
			if v == 0 {
				continue
			}
			call := p.unseal(s.with(i, altered), tok.Under)
			if call.Answer.Outcome == verdict.Refused {
				answers[call.Answer.Stage+"/"+call.Answer.Reason+"/"+call.Answer.Text] = call
			}
			t.try(codecs.UniformRefusal)
		}
		if len(answers) > 1 {
			t.refute(codecs.UniformRefusal, fmt.Sprintf("one byte of the ciphertext, %d from the end, set to each value, is refused in %d ways", back, len(answers)), callsOf(answers)...)
			return
		}
	}
}

func callsOf(answers map[string]verdict.Call) []verdict.Call {
	var keys []string
	for k := range answers {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var calls []verdict.Call
	for _, k := range keys[:min(3, len(keys))] {
		calls = append(calls, answers[k])
	}
	return calls
}

// earlyJudgement presents tokens that are not authentic where an authentic one
// would be expired or bound to something else, and compares texts of refusals.
func earlyJudgement(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	texts := map[string]verdict.Call{}
	for _, i := range s.coded() {
		for _, at := range t.places(len(s.pieces[i].raw)-1, 24) {
			altered := bytes.Clone(s.pieces[i].raw)
			altered[min(at, len(altered)-1)] ^= 1
			t.judgedEarly(p, tok, s.with(i, altered), texts)
		}
	}
	for _, x := range []string{"", "x", "v1.AAAA"} {
		if call := p.unseal([]byte(x), tok.Under); call.Answer.Outcome == verdict.Refused {
			texts[call.Answer.Text] = call
		}
	}
	if len(texts) > 1 {
		t.refute(codecs.UniformRefusal, fmt.Sprintf("refusals have %d texts", len(texts)), callsOf(texts)...)
	}
}

// judgedEarly presents a token that is not authentic in every context, and adds the
// texts of refusals to texts.
func (t *Trial) judgedEarly(p *Party, tok *Token, altered []byte, texts map[string]verdict.Call) {
	for _, c := range append(otherContexts(tok.Under), tok.Under) {
		call := p.unseal(altered, c)
		if call.Answer.Outcome != verdict.Refused {
			continue
		}
		t.try(codecs.UniformRefusal)
		texts[call.Answer.Text] = call
		if stage := call.Answer.Stage; stage == codecs.Expired.String() || stage == codecs.Misbound.String() {
			t.refute(codecs.UniformRefusal, "a token that is not authentic is refused as "+stage, tok.Sealed, call)
		}
	}
}

// partitioning asks a ring for tokens of keys that are in it and keys that are
// not, and expects no difference in the text that the presenter sees.
func partitioning(t *Trial) {
	ring, err := t.party(t.secret(0), t.secret(1), t.secret(2))
	if err != nil {
		t.skip("the subject takes one key only")
		return
	}
	texts := map[string]verdict.Call{}
	for n := range 5 {
		p, err := t.party(t.secret(n))
		if err != nil {
			return
		}
		tok, ok := t.mint(p, t.state(24))
		if !ok {
			return
		}
		s := tok.shape()
		for _, i := range s.coded() {
			altered := bytes.Clone(s.pieces[i].raw)
			altered[len(altered)-1] ^= 1
			if call := ring.unseal(s.with(i, altered), tok.Under); call.Answer.Outcome == verdict.Refused {
				t.try(codecs.UniformRefusal)
				texts[call.Answer.Text] = call
			}
		}
	}
	if len(texts) > 1 {
		t.refute(codecs.UniformRefusal, "the text of a refusal tells whether a key is in the ring", callsOf(texts)...)
	}
}
