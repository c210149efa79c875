package attack

import (
	"bytes"

	"sealab/codecs"
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
		Gain: "a key of the ring whose tokens are refused", Origin: "key ids of 32 bits and fewer", Run: collidingIDs, Thousands: 2},
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
