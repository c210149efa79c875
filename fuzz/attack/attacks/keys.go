package attacks

import (
	"bytes"
	"crypto/aes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks/jose"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/lab"
)

// keyAttacks are the attacks with other keys, other forms of keys, and other rings.
var keyAttacks = []attack.Attack{
	{ID: "KEY-15", Name: "a token of another key", Refutes: []codecs.Property{codecs.Integrity, codecs.KeyCommitting}, Layer: attack.LayerKeys, CWE: 347, Gain: attack.GainForgery,
		Origin: "checksums in the place of tags", Run: onTrial(trial.otherKey)},
	{ID: "KEY-04", Name: "weak keys", Refutes: []codecs.Property{codecs.StrongKeys}, Layer: attack.LayerKeys, CWE: 326,
		Gain: "a key that can be guessed", Origin: "CVE-2019-20933, CVE-2020-13777", Run: onTrial(trial.weakKeys)},
	{ID: "KEY-03", Name: "a key ring that contains a key twice", Refutes: []codecs.Property{codecs.StrongKeys}, Layer: attack.LayerKeys, CWE: 694,
		Gain: "a verification result that depends on the order of keys", Origin: "Project Wycheproof: DuplicateKid", Run: onTrial(trial.keyTwice)},
	{ID: "KEY-07", Name: "key rotation, and tokens of a removed key", Refutes: []codecs.Property{codecs.Rotation}, Layer: attack.LayerKeys, CWE: 324,
		Gain: "accepted tokens of a key that was removed", Origin: "rings that are read by position", Run: onTrial(trial.rotation), Hundreds: 4},
	{ID: "KEY-05", Name: "different secrets that are equal as HMAC keys, as numbers or under a short hash", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: attack.LayerKeys, CWE: 323,
		Gain: "a second secret that acts as the same key", Origin: "RFC 2104, section 2; Dodis, Ristenpart, Steinberger, Tessaro 2012; keys derived of hash codes", Run: onTrial(trial.equivalentKeys), Hundreds: 1},
	{ID: "KEY-06", Name: "secrets in other encodings, or changed in one part", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: attack.LayerKeys, CWE: 704,
		Gain: "different secrets that act as the same key", Origin: "CVE-2021-41106", Run: onTrial(trial.formsOfKeys), Hundreds: 1},
	{ID: "KEY-08", Name: "tokens of every other design under the same secret", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: attack.LayerKeys, CWE: 323,
		Gain: "a token of another protocol that this one accepts", Origin: "RFC 8725, sections 2.8 and 3.11", Run: onTrial(trial.otherDesigns), Hundreds: 5},
	{ID: "KEY-16", Name: "the secret used directly as the key of a known primitive", Refutes: []codecs.Property{codecs.KeySeparation}, Layer: attack.LayerKeys, CWE: 323,
		Gain: "data of another protocol under the same secret, accepted as a token", Origin: "RFC 8725, section 3.11", Run: onToken(trial.rawSecret)},
	{ID: "KEY-12", Name: "well-known keys", Refutes: integrityProperties, Layer: attack.LayerKeys, CWE: 1394,
		Gain: "a token forged with a published key", Origin: "CVE-2016-4437", Run: onToken(trial.knownKeys)},
	{ID: "KEY-14", Name: "two keys with the same key ID", Refutes: []codecs.Property{codecs.Rotation, codecs.StrongKeys}, Layer: attack.LayerKeys, CWE: 694,
		Gain: "valid tokens that are refused because of a colliding key ID", Origin: "key IDs of 32 bits and fewer", Run: onTrial(trial.collidingIDs), Hundreds: 20},
	{ID: "KEY-02", Name: "hostile key IDs", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: attack.LayerText, CWE: 347,
		Gain: "a key that the attacker chooses, or a crash of the server", Origin: "CVE-2018-0114", Run: onToken(trial.injectedKeyIDs), Hundreds: 44},
	{ID: "KEY-09", Name: "one token that opens under two keys", Refutes: []codecs.Property{codecs.KeyCommitting}, Layer: attack.LayerReseal, CWE: 327,
		Gain: "a token from which two readers take different states", Origin: "Dodis, Grubbs, Ristenpart, Woodage 2018; CVE-2020-8912", Run: onTrial(trial.twoKeys)},
	{ID: "KEY-13", Name: "edge cases of key agreement", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: attack.LayerText, CWE: 325,
		Gain: "a known shared secret, or a crash of the server", Origin: "CVE-2016-9121; RFC 7748, section 6.1", Run: onToken(trial.points), Hundreds: 3},
	{ID: "KEY-17", Name: "values in the token that confirm a guessed key", Refutes: []codecs.Property{codecs.PrivateKeys}, Layer: attack.LayerText, CWE: 916,
		Gain: "guesses at a weak key without contacting the server", Origin: "unsalted hashes of keys as key IDs: tower-mcp, Auth.js", Run: onToken(trial.keyCheckValues)},
	{ID: "KEY-01", Name: "a public key as an HMAC secret", Refutes: integrityProperties, Layer: attack.LayerKeys, CWE: 347, Gain: attack.GainForgery,
		Origin: "CVE-2015-9235, CVE-2016-10555, CVE-2022-29217, CVE-2026-34950", Run: jose.PublicAsSecret},
	{ID: "KEY-11", Name: "a token minted with public data alone", Refutes: []codecs.Property{codecs.SenderAuthenticated}, Layer: attack.LayerKeys, CWE: 290,
		Gain: "tokens minted by anybody", Origin: "CVE-2023-51774; RFC 9180, section 9.1", Run: onTrial(trial.publicData)},
	{ID: "KEY-18", Name: "a token minted with the verification key", Refutes: []codecs.Property{codecs.SenderAuthenticated}, Layer: attack.LayerKeys, CWE: 322,
		Gain: "tokens minted by any server that can only verify", Origin: "RFC 8725, section 2.1", Run: onTrial(trial.verifyingHalf)},
}

// secrets returns the keys with the given numbers.
func (t trial) secrets(numbers ...int) (keys [][]byte) {
	for _, n := range numbers {
		keys = append(keys, t.Secret(n))
	}
	return keys
}

// firstSecrets returns the keys with the numbers below n.
func (t trial) firstSecrets(n int) (keys [][]byte) {
	for k := range n {
		keys = append(keys, t.Secret(k))
	}
	return keys
}

// pair opens the design under two rings with one key each.
func (t trial) pair(a, b []byte) (ia, ib *attack.Instance, ok bool) {
	ia, errA := t.Open(a)
	ib, errB := t.Open(b)
	return ia, ib, errA == nil && errB == nil
}

func (t trial) otherKey() {
	t.presentsOtherKeys(func(tok *attack.Token, b *attack.Instance) {
		t.Try(codecs.Integrity, codecs.KeyCommitting)
		if call, ok := b.Accepts(tok.Text, tok.Under); ok {
			t.Refute(codecs.Integrity, "a token is accepted under a key that it was not sealed under", tok.Sealed, call)
			t.Refute(codecs.KeyCommitting, "a token opens under two random keys", tok.Opened, call)
		}
	})
}

// publicData mints under a key of the attacker, who knows only the format, and presents the
// token to the design's own ring.
func (t trial) publicData() {
	t.presentsOtherKeys(func(tok *attack.Token, b *attack.Instance) {
		t.Try(codecs.SenderAuthenticated)
		if call, ok := b.Accepts(tok.Text, tok.Under); ok {
			t.RefuteIf(codecs.SenderAuthenticated, attack.Accepted, "a token minted without any key of the ring is accepted", tok.Sealed, call)
		}
	})
}

// verifyingHalf mints with the values of a holder who can only verify, in several forms, and
// presents the tokens to the ring. A design without hooks is not tested: its secrets may be
// private keys.
func (t trial) verifyingHalf() {
	if t.Design.Hooks == nil {
		t.Skip("the design does not tell the values that verify from those that mint")
		return
	}
	secret := t.Secret(0)
	half := [][]byte{secret}
	if verifying := lab.HooksOf(t.Design.Design).Verifying; verifying != nil {
		var err error
		if half, err = verifying(half); err != nil {
			t.Skip("the design does not open under random secrets of 32 bytes")
			return
		}
	}
	in, err := t.Open(secret)
	if err != nil {
		t.Skip("the design does not open under random secrets of 32 bytes")
		return
	}
	for _, form := range formsOf(half[0]) {
		t.Try(codecs.SenderAuthenticated)
		holder, err := t.Open(form)
		if err != nil {
			continue
		}
		tok, ok := t.Mint(holder, t.State(24))
		if !ok {
			continue
		}
		if call, ok := in.Accepts(tok.Text, tok.Under); ok {
			t.RefuteIf(codecs.SenderAuthenticated, attack.Accepted, "the values that verify tokens mint them", tok.Sealed, call)
		}
	}
}

// presentsOtherKeys mints tokens under one key and passes them to do, together with an instance
// under another key.
func (t trial) presentsOtherKeys(do func(tok *attack.Token, b *attack.Instance)) {
	a, b, ok := t.pair(t.Secret(0), t.Secret(1))
	if !ok {
		t.Skip("the design does not open under random secrets of 32 bytes")
		return
	}
	for range 4 {
		tok, ok := t.Mint(a, t.State(24))
		if !ok {
			t.Skip("the design does not seal an ordinary state")
			return
		}
		do(tok, b)
	}
	if tok, ok := t.Mint(a, []byte{}); ok { // a tag may not cover an empty state
		do(tok, b)
	}
}

// wellKnown are keys that are published in documentation and source code.
func wellKnown() [][]byte {
	counting := make([]byte, 32)
	for i := range counting {
		counting[i] = byte(i)
	}
	return [][]byte{make([]byte, 32), bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{0xff}, 32), counting, bytes.Repeat([]byte("k"), 32),
		bytes.Repeat([]byte("0"), 32), bytes.Repeat([]byte("a"), 32), []byte("0123456789abcdef0123456789abcdef"), []byte("your-256-bit-secret-your-256-bit"),
		[]byte("secretsecretsecretsecretsecretse"), []byte("changemechangemechangemechangeme")}
}

func (t trial) knownKeys(in *attack.Instance, tok *attack.Token) {
	for _, key := range wellKnown() {
		other, err := t.Open(key)
		if err != nil {
			continue
		}
		t.Refuses(codecs.Integrity, other, tok.Sealed, tok.Under, "a well-known key opens a token of a random key")
		if forged, ok := t.Mint(other, t.State(24)); ok {
			if call, ok := in.Accepts(forged.Text, forged.Under); ok {
				t.Refute(codecs.Integrity, "a token made with a well-known key is accepted under a random one", forged.Sealed, call)
			}
		}
	}
	if t.Tried(codecs.Integrity) == 0 {
		t.Skip("the design takes none of the well-known keys")
	}
}

// otherDesigns presents tokens of every other design of the catalog, sealed under the same
// secret.
func (t trial) otherDesigns() {
	secret := t.Secret(0)
	in, err := t.Open(secret)
	if err != nil {
		t.Skip("the design does not open under a random secret of 32 bytes")
		return
	}
	for _, d := range catalog.Variants() {
		other := trial{t.Of(&attack.Design{Design: d})}
		theirs, err := other.Open(secret)
		if err != nil || d.Name == t.Design.Name {
			continue
		}
		tok, ok := other.Mint(theirs, t.State(24))
		if !ok || t.sameFormat(in, theirs, tok) {
			continue
		}
		for _, text := range [][]byte{tok.Text, t.disguised(in, d, tok)} {
			t.Try(codecs.KeySeparation)
			if call, ok := in.Accepts(text, tok.Under); ok {
				t.Refute(codecs.KeySeparation, "a token of another design under the same secret is accepted: "+d.Name, call)
			}
		}
	}
}

// sameFormat reports whether each of two designs opens the other's tokens, as two
// implementations of one format do.
func (t trial) sameFormat(in, theirs *attack.Instance, tok *attack.Token) bool {
	mine, ok := t.Mint(in, t.State(24))
	if !ok {
		return false
	}
	_, there := theirs.Accepts(mine.Text, mine.Under)
	_, here := in.Accepts(tok.Text, tok.Under)
	return there && here
}

// disguised returns a token of design d with the prefix of the attacked design.
func (t trial) disguised(in *attack.Instance, d codecs.Design, tok *attack.Token) []byte {
	mine, ok := t.Mint(in, t.State(24))
	if !ok {
		return tok.Text
	}
	return append([]byte(t.PrefixOf(mine)), bytes.TrimPrefix(tok.Text, []byte(d.Prefix))...)
}

// rawSecret checks whether the secret itself is the key of a known primitive. If it is,
// anything else that is authenticated under the secret may be a token.
func (t trial) rawSecret(in *attack.Instance, tok *attack.Token) {
	t.Try(codecs.KeySeparation)
	c, ok := tok.Format().Recognize(in.Keys[0])
	if !ok {
		return
	}
	if call, ok := in.Accepts(c.Seal(c.Body), tok.Under); ok {
		t.Observe(codecs.KeySeparation, "the secret itself is the key of "+c.Name+": another text made under it can be a token", tok.Sealed, call)
	}
}

// keyCheckValues looks for values in a token that depend only on the key: a plain hash of the
// secret, and a head that a fresh process repeats for the secret and changes for another one.
// Whoever has the program can compute both for a guessed secret.
func (t trial) keyCheckValues(in *attack.Instance, tok *attack.Token) {
	t.Try(codecs.PrivateKeys)
	for name, digest := range digestsOf(in.Keys[0]) {
		if len(tokenfmt.Find(tok.Text, digest)) > 0 || isSegment(tok, digest) {
			t.Refute(codecs.PrivateKeys, fmt.Sprintf("the token holds %s of the secret, %x", name, digest), tok.Sealed)
			return
		}
	}
	first := t.start(in)
	if t.Design.Restart != nil && t.Design.Restart() != nil {
		return
	}
	again, other, ok := t.pair(t.Secret(0), t.Secret(1))
	if !ok {
		return
	}
	second, third := t.start(again), t.start(other)
	if n := min(commonPrefixLength(first, second), len(third), 16); n-equalPositions(first[:n], third[:n]) >= 3 {
		t.Refute(codecs.PrivateKeys, fmt.Sprintf("every token begins with %x, which is a function of the secret", first[:n]), tok.Sealed)
	}
}

// isSegment reports whether a segment of the token is value in base64url. Such a segment may be
// too short for its encoding to be inferred.
func isSegment(tok *attack.Token, value []byte) bool {
	return slices.ContainsFunc(tok.Format().Segments, func(s tokenfmt.Segment) bool { return s.Text == tokenfmt.Base64URL.Encode(value) })
}

// commonPrefixLength returns the length of the common prefix of a and b.
func commonPrefixLength(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// digestsOf returns the leading bytes of unsalted hashes of a secret and of its encodings, by
// name.
func digestsOf(secret []byte) map[string][]byte {
	all := map[string][]byte{}
	all["the first bytes"], all["the last bytes"] = secret[:4], secret[len(secret)-4:]
	for form, key := range map[string][]byte{"": secret, " of the hexadecimal text": []byte(hex.EncodeToString(secret)), " of the base64 text": []byte(base64.StdEncoding.EncodeToString(secret))} {
		for _, sum := range tokenfmt.Checksums() {
			all[sum.Name+form] = sum.Sum(key)[:4]
		}
		sum256 := sha256.Sum256(key)
		all["the end of SHA-256"+form] = sum256[28:]
		twice := sha256.Sum256(sum256[:])
		all["SHA-256 twice"+form] = twice[:4]
		all["HMAC-SHA256 of the empty text under it"+form] = tokenfmt.HMACSHA256.Sum(key, nil)[:4]
	}
	thumbprint := sha256.Sum256(fmt.Appendf(nil, `{"k":"%s","kty":"oct"}`, base64.RawURLEncoding.EncodeToString(secret)))
	all["the thumbprint of RFC 7638"] = thumbprint[:4]
	sum := sha256.Sum256(secret)
	for name, key := range map[string][]byte{"the secret": secret, "SHA-256": sum[:], "the first 16 bytes": secret[:min(16, len(secret))]} {
		if c, err := aes.NewCipher(key); err == nil {
			check := make([]byte, aes.BlockSize)
			c.Encrypt(check, check)
			all["the AES encryption of zeros under a key that is "+name] = check[:4]
		}
	}
	return all
}
