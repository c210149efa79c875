package attack

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/verdict"
)

// onKeys are the attacks with other keys, forms of keys and rings.
var onKeys = []Refuter{
	{ID: "KEY-15", Name: "a token of another key", Refutes: []codecs.Property{codecs.Integrity, codecs.KeyCommitting}, Layer: LayerKeys, Gain: gainForgery,
		Origin: "checksums in the place of tags", Run: otherKey},
	{ID: "KEY-04", Name: "weak keys", Refutes: []codecs.Property{codecs.StrongKeys}, Layer: LayerKeys,
		Gain: "a key that can be guessed", Origin: "CVE-2019-20933, CVE-2020-13777", Run: weakKeys},
	{ID: "KEY-03", Name: "a ring with a key twice", Refutes: []codecs.Property{codecs.StrongKeys}, Layer: LayerKeys,
		Gain: "which key decides depends on the order", Origin: "Project Wycheproof: DuplicateKid", Run: keyTwice},
	{ID: "KEY-07", Name: "rotation: every key unseals, the first seals, a removed one is gone", Refutes: []codecs.Property{codecs.Rotation}, Layer: LayerKeys,
		Gain: "tokens of a key that was given up", Origin: "rings that are read by position", Run: rotation},
	{ID: "KEY-05", Name: "HMAC-equivalent keys", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: LayerKeys,
		Gain: "a second secret for the same key", Origin: "RFC 2104, section 2; Dodis, Ristenpart, Steinberger, Tessaro 2012", Run: equivalentKeys},
	{ID: "KEY-06", Name: "keys in another form", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: LayerKeys,
		Gain: "secrets that differ and are one key", Origin: "CVE-2021-41106", Run: formsOfKeys},
	{ID: "KEY-08", Name: "tokens of every other design under the same secret", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: LayerKeys,
		Gain: "what another protocol signed is a token", Origin: "RFC 8725, sections 2.8 and 3.11", Run: otherDesigns},
	{ID: "KEY-16", Name: "the secret as the key", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: LayerKeys,
		Gain: "what another protocol authenticates is a token", Origin: "RFC 8725, section 3.11", Run: rawSecret},
	{ID: "KEY-12", Name: "well-known keys", Refutes: unforgeable, Layer: LayerKeys,
		Gain: "a forgery with a published key", Origin: "CVE-2016-4437", Run: knownKeys},
	{ID: "KEY-14", Name: "key ids that collide", Refutes: []codecs.Property{codecs.Rotation, codecs.StrongKeys}, Layer: LayerKeys,
		Gain: "a key of the ring whose tokens are refused", Origin: "key ids of 32 bits and fewer", Run: collidingIDs},
	{ID: "KEY-02", Name: "hostile key ids", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: LayerText,
		Gain: "a key of the attacker's choice, or a server that dies", Origin: "CVE-2018-0114", Run: injectedKeyIDs},
	{ID: "KEY-09", Name: "one token under two keys", Refutes: []codecs.Property{codecs.KeyCommitting}, Layer: LayerReseal,
		Gain: "a token that says one thing to one reader and another to the next", Origin: "Dodis, Grubbs, Ristenpart, Woodage 2018; CVE-2020-8912", Run: twoKeys},
	{ID: "KEY-13", Name: "edge inputs of key agreement", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: LayerText,
		Gain: "a shared secret that is known, or a server that dies", Origin: "CVE-2016-9121; RFC 7748, section 6.1", Run: edgePoints},
	{ID: "KEY-01", Name: "a public key as an HMAC secret", Refutes: unforgeable, Layer: LayerKeys, Gain: gainForgery, Origin: "CVE-2016-10555",
		Dropped: "no design publishes a verification key: the contract knows secrets alone"},
	{ID: "KEY-11", Name: "a forgery with public data alone", Refutes: []codecs.Property{codecs.SenderAuthenticated}, Layer: LayerKeys,
		Gain: "who can only read mints", Origin: "CVE-2023-51774; RFC 9180, section 9.1", Run: readerMints},
}

// pair opens the subject under two rings of one key each.
func (t *Trial) pair(a, b []byte) (pa, pb *Party, ok bool) {
	pa, errA := t.party(a)
	pb, errB := t.party(b)
	return pa, pb, errA == nil && errB == nil
}

func otherKey(t *Trial) {
	a, b, ok := t.pair(t.secret(0), t.secret(1))
	if !ok {
		t.skip("the subject does not open under random secrets of 32 bytes")
		return
	}
	for range 4 {
		tok, ok := t.mint(a, t.state(24))
		if !ok {
			t.skip("the subject does not seal an ordinary state")
			return
		}
		t.try(codecs.Integrity, codecs.KeyCommitting)
		if call, ok := b.accepts(tok.Text, tok.Under); ok {
			t.refute(codecs.Integrity, "a token is accepted under a key that it was not sealed under", tok.Sealed, call)
			t.refute(codecs.KeyCommitting, "a token opens under two random keys", tok.Opened, call)
		}
	}
}

// taken reports whether the subject opens under the ring. A worker that broke
// has not answered.
func (t *Trial) taken(keys ...[]byte) (call verdict.Call, taken, answered bool) {
	_, err := t.party(keys...)
	switch {
	case err == nil:
		return openCall(keys, nil, verdict.Answer{Outcome: verdict.Done}), true, true
	case errors.Is(err, codecs.ErrFault):
		return verdict.Call{}, false, false
	default:
		return verdict.Call{}, false, true
	}
}

func weakKeys(t *Trial) {
	good := t.secret(0)
	for _, n := range []int{0, 1, 8, 15, 16, 24, 31} {
		for _, ring := range [][][]byte{{good[:n]}, {good, t.secret(1)[:n]}} {
			if !t.opens(ring[:len(ring)-1]) {
				continue
			}
			call, taken, answered := t.taken(ring...)
			if answered {
				t.try(codecs.StrongKeys)
			}
			if taken && !t.defaulted(ring) {
				t.refute(codecs.StrongKeys, fmt.Sprintf("a ring with a key of %d bytes is taken", n), call)
			}
		}
	}
	if _, taken, _ := t.taken(); taken && t.shared() {
		t.refute(codecs.StrongKeys, "without any key the subject opens under one that is always the same", openCall(nil, nil, verdict.Answer{Outcome: verdict.Done}))
	}
}

// opens reports whether the subject opens under as many good keys, and one more.
func (t *Trial) opens(ring [][]byte) bool {
	_, err := t.party(append(slices.Clone(ring), t.secret(9))...)
	return err == nil
}

// defaulted reports that an empty secret stands for a fresh random one.
func (t *Trial) defaulted(ring [][]byte) bool {
	if len(ring) != 1 || len(ring[0]) > 0 {
		return false
	}
	return !t.shared([]byte{})
}

// shared reports whether two parties under the ring open each other's tokens.
func (t *Trial) shared(keys ...[]byte) bool {
	a, errA := t.party(keys...)
	b, errB := t.party(keys...)
	if errA != nil || errB != nil {
		return false
	}
	tok, ok := t.mint(a, t.state(24))
	if !ok {
		return false
	}
	_, ok = b.accepts(tok.Text, tok.Under)
	return ok
}

func keyTwice(t *Trial) {
	a, b := t.secret(0), t.secret(1)
	if _, err := t.party(a, b); err != nil {
		t.skip("the subject takes one key only")
		return
	}
	for _, ring := range [][][]byte{{a, a}, {a, b, a}, {a, b, b}} {
		call, taken, answered := t.taken(ring...)
		if answered {
			t.try(codecs.StrongKeys)
		}
		if taken {
			t.refute(codecs.StrongKeys, fmt.Sprintf("a ring of %d keys, one of them twice, is taken", len(ring)), call)
		}
	}
}

// rotation mints under each of five keys and opens under rings that hold the
// key in every place, and in none.
func rotation(t *Trial) {
	var keys [][]byte
	for n := range 5 {
		keys = append(keys, t.secret(n))
	}
	if _, err := t.party(keys[0], keys[1]); err != nil {
		t.skip("the subject takes one key only")
		return
	}
	if _, err := t.party(keys...); err != nil {
		keys = keys[:2]
	}
	for i, key := range keys {
		alone, err := t.party(key)
		if err != nil {
			continue
		}
		tok, ok := t.mint(alone, t.state(24))
		if !ok {
			t.skip("the subject does not seal an ordinary state")
			return
		}
		for shift := range keys {
			turned := slices.Concat(keys[shift:], keys[:shift])
			t.opensUnder(tok, turned, true, fmt.Sprintf("key %d of a ring of %d does not unseal", (i-shift+len(keys))%len(keys)+1, len(keys)))
		}
		without := slices.Delete(slices.Clone(keys), i, i+1)
		t.opensUnder(tok, without, false, "a token of a key that is not in the ring is accepted")
		t.sealsUnder(slices.Concat(keys[i:], keys[:i]))
	}
}

// opensUnder presents tok to a ring and expects it to be accepted, or not.
func (t *Trial) opensUnder(tok *Token, ring [][]byte, want bool, issue string) {
	p, err := t.party(ring...)
	if err != nil {
		return
	}
	t.try(codecs.Rotation)
	if call, ok := p.accepts(tok.Text, tok.Under); ok != want {
		t.refute(codecs.Rotation, issue, tok.Sealed, call)
	}
}

// sealsUnder checks that the first key of the ring seals, and no other.
func (t *Trial) sealsUnder(ring [][]byte) {
	p, err := t.party(ring...)
	if err != nil {
		return
	}
	tok, ok := t.mint(p, t.state(24))
	if !ok {
		return
	}
	t.opensUnder(tok, ring[:1], true, "a ring's new token does not open under its first key alone")
	t.opensUnder(tok, ring[1:], false, "a ring's new token opens without its first key")
}

// twins presents a token of one secret to another that may be the same key.
func (t *Trial) twins(a, b []byte, how string) {
	pa, pb, ok := t.pair(a, b)
	if !ok || bytes.Equal(a, b) {
		return
	}
	tok, ok := t.mint(pa, t.state(24))
	if !ok {
		return
	}
	t.try(codecs.KeySeparation)
	if call, ok := pb.accepts(tok.Text, tok.Under); ok {
		t.refute(codecs.KeySeparation, "two different secrets open each other's tokens: "+how, tok.Sealed, call)
	}
}

func equivalentKeys(t *Trial) {
	k := t.secret(0)
	for _, n := range []int{1, 8, 32} {
		t.twins(k, append(bytes.Clone(k), make([]byte, n)...), fmt.Sprintf("K and K with %d zero bytes after it", n))
	}
	for _, n := range []int{65, 80, 129, 200} {
		long := bytes.Repeat(k, 7)[:n]
		sum := sha256.Sum256(long)
		t.twins(long, sum[:], fmt.Sprintf("a secret of %d bytes and its SHA-256", n))
	}
	if t.trials[codecs.KeySeparation] == 0 {
		t.skip("the subject takes secrets of one length only")
	}
}

func formsOfKeys(t *Trial) {
	k, tail := t.secret(0), t.secret(1)
	k[5], k[31] = 'a', 'b'
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	t.twins(k, []byte(hex.EncodeToString(k)), "K and its hexadecimal text")
	t.twins(k, []byte(base64.StdEncoding.EncodeToString(k)), "K and its base64 text")
	t.twins(k, []byte(base64.RawURLEncoding.EncodeToString(k)), "K and its base64url text")
	for _, n := range []int{32, 48, 64, 128} {
		t.twins(join(bytes.Repeat(k, 4)[:n], tail), join(bytes.Repeat(k, 4)[:n], k), fmt.Sprintf("secrets that differ after byte %d", n))
	}
	t.twins(join(k, []byte("\n")), k, "K with a line break after it, and K")
	t.twins(join([]byte(" "), k), k, "K with a space before it, and K")
	t.twins(join(k[:8], []byte{0}, tail), join(k[:8], []byte{0}, k), "secrets that differ after a NUL")
	t.twins(join(k[:31], []byte{0xff}), join(k[:31], []byte{0xfe}), "secrets that differ in a byte that is not UTF-8")
	t.twins(join(k[:31], []byte("x")), join(k[:31], []byte("X")), "secrets that differ in the case of a letter")
	t.twins(join(k[:31], []byte{0x41}), join(k[:31], []byte{0xc1}), "secrets that differ in the highest bit of a byte")
	t.twins(join(k[:30], []byte("\u00e9")), join(k[:30], []byte("\u00e8")), "secrets that differ in a letter that is not ASCII")
	for _, i := range []int{0, 15, 16, 31} {
		other := bytes.Clone(k)
		other[i] ^= 1
		t.twins(k, other, fmt.Sprintf("secrets that differ in a bit of byte %d", i))
	}
}

// otherDesigns presents tokens of every design of the catalog.
func otherDesigns(t *Trial) {
	secret := t.secret(0)
	p, err := t.party(secret)
	if err != nil {
		t.skip("the subject does not open under a random secret of 32 bytes")
		return
	}
	for _, d := range catalog.All() {
		other := newTrial(&Subject{Design: d}, t.attack, t.seed, t.Budget)
		q, err := other.party(secret)
		if err != nil || d.Name == t.Subject.Name {
			continue
		}
		tok, ok := other.mint(q, t.state(24))
		if !ok || t.sameFormat(p, q, tok) {
			continue
		}
		for _, text := range [][]byte{tok.Text, t.disguised(p, d, tok)} {
			t.try(codecs.KeySeparation)
			if call, ok := p.accepts(text, tok.Under); ok {
				t.refute(codecs.KeySeparation, "a token of another design under the same secret is accepted", call)
			}
		}
	}
}

// sameFormat reports that the two designs write one format, since each opens the
// other's tokens: an implementation in another language does.
func (t *Trial) sameFormat(p, q *Party, tok *Token) bool {
	mine, ok := t.mint(p, t.state(24))
	if !ok {
		return false
	}
	_, there := q.accepts(mine.Text, mine.Under)
	_, here := p.accepts(tok.Text, tok.Under)
	return there && here
}

// disguised is a token of design d with the prefix of the subject.
func (t *Trial) disguised(p *Party, d codecs.Design, tok *Token) []byte {
	mine, ok := t.mint(p, t.state(24))
	if !ok {
		return tok.Text
	}
	return append([]byte(t.prefixOf(mine)), bytes.TrimPrefix(tok.Text, []byte(d.Prefix))...)
}

// rawSecret looks for the secret, as it stands, as the key of a known primitive:
// whatever else is authenticated under the secret may then be a token.
func rawSecret(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	t.try(codecs.KeySeparation)
	f, ok := t.shape(p, tok).recognise(p.keys[0])
	if !ok {
		return
	}
	if call, ok := p.accepts(f.seal(f.body), tok.Under); ok {
		t.observe(codecs.KeySeparation, "the secret itself is the key of "+f.name+": what else is made under it can be a token", tok.Sealed, call)
	}
}

func knownKeys(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	counting := make([]byte, 32)
	for i := range counting {
		counting[i] = byte(i)
	}
	known := [][]byte{make([]byte, 32), bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{0xff}, 32), counting, bytes.Repeat([]byte("k"), 32),
		bytes.Repeat([]byte("0"), 32), bytes.Repeat([]byte("a"), 32), []byte("0123456789abcdef0123456789abcdef"), []byte("your-256-bit-secret-your-256-bit"),
		[]byte("secretsecretsecretsecretsecretse"), []byte("changemechangemechangemechangeme"), []byte("00000000000000000000000000000000")}
	for _, key := range known {
		q, err := t.party(key)
		if err != nil {
			continue
		}
		t.try(codecs.Integrity)
		if call, ok := q.accepts(tok.Text, tok.Under); ok {
			t.refute(codecs.Integrity, "a well-known key opens a token of a random key", tok.Sealed, call)
		}
		if forged, ok := t.mint(q, t.state(24)); ok {
			if call, ok := p.accepts(forged.Text, forged.Under); ok {
				t.refute(codecs.Integrity, "a token made with a well-known key is accepted under a random one", forged.Sealed, call)
			}
		}
	}
	if t.trials[codecs.Integrity] == 0 {
		t.skip("the subject takes none of the well-known keys")
	}
}

// collidingIDs looks for two secrets whose tokens begin alike, opens a ring of
// both and asks for the tokens of each.
func collidingIDs(t *Trial) {
	seen := map[string][]byte{}
	for n := range 300 {
		if t.spent() {
			return
		}
		secret := t.secret(100 + n)
		p, err := t.party(secret)
		if err != nil {
			t.skip("the subject does not open under random secrets of 32 bytes")
			return
		}
		id, ok := t.constantHead(p)
		if !ok {
			t.skip("no key id shows at the start of the token's bytes")
			return
		}
		if other, ok := seen[id]; ok {
			t.collide(other, secret)
			return
		}
		seen[id] = secret
	}
	t.try(codecs.Rotation, codecs.StrongKeys)
}

// constantHead is what the tokens of one party have in common at the start.
func (t *Trial) constantHead(p *Party) (string, bool) {
	var head []byte
	for i := range 3 {
		tok, ok := t.mint(p, t.state(24))
		if !ok {
			return "", false
		}
		raw := t.rawOf(tok)
		if i == 0 {
			head = raw
		}
		for k := range head {
			if k >= len(raw) || raw[k] != head[k] {
				head = head[:k]
				break
			}
		}
	}
	return string(head), len(head) > 0 && len(head) <= 16
}

func (t *Trial) collide(a, b []byte) {
	if _, err := t.party(a, b); err != nil {
		t.try(codecs.Rotation, codecs.StrongKeys) // found and refused, or a ring of one
		return
	}
	for _, key := range [][]byte{a, b} {
		p, err := t.party(key)
		if err != nil {
			return
		}
		if tok, ok := t.mint(p, t.state(24)); ok {
			t.opensUnder(tok, [][]byte{a, b}, true, "two keys of a ring have one key id, and the tokens of one are refused")
			t.opensUnder(tok, [][]byte{b, a}, true, "two keys of a ring have one key id, and the tokens of one are refused")
		}
	}
	t.try(codecs.StrongKeys)
}

// readerMints notes that whoever holds the ring that unseals can seal.
func readerMints(t *Trial) {
	if t.Subject.word(codecs.SenderAuthenticated) == verdict.Stated {
		t.skip("the contract gives readers and writers the same secrets, so that a reader without them cannot be set up")
		return
	}
	p, tok, ok := t.base()
	if !ok {
		return
	}
	t.try(codecs.SenderAuthenticated)
	if forged, ok := p.mint(t.state(24), tok.Under); ok {
		t.refute(codecs.SenderAuthenticated, "what a reader needs is enough to mint", forged.Sealed, forged.Opened)
	}
}
