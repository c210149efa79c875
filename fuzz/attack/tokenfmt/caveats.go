package tokenfmt

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// A macaroon is a macaroon with its caveats (Birgisson and others, "Macaroons: cookies with contextual
// caveats", 2014). The signature is the HMAC of the last caveat under the signature before it.
type macaroon struct {
	caveats   [][]byte
	signature []byte
	// write returns the bytes of the macaroon with one more caveat and another signature.
	write func(caveat, signature []byte) []byte
}

// Caveats adds a caveat to a macaroon. This needs no key, because the signature is the key of the next one.
// The new caveat is one of the token with a changed character in its last word. It applies to the formats 1
// and 2 (libmacaroons, doc/format.txt).
func Caveats(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for version, parse := range []func([]byte) (macaroon, bool){macaroonV1, macaroonV2} {
			m, ok := parse(raw)
			if !ok {
				continue
			}
			for n, caveat := range m.caveats {
				for _, other := range changedWords(caveat) {
					mac := hmac.New(sha256.New, m.signature)
					mac.Write(other)
					yield(Alteration{f.With(i, m.write(other, mac.Sum(nil))), fmt.Sprintf("caveat %d of a macaroon in format %d added with another end", n, version+1)})
				}
			}
		}
	}
}

// changedWords returns copies of a text, each with another character in the last word: the first one, one in
// the middle, or the last one.
func changedWords(text []byte) (all [][]byte) {
	start := bytes.LastIndexAny(text, " =:") + 1
	for _, at := range []int{start, (start + len(text)) / 2, len(text) - 1} {
		if at < len(text) {
			all = append(all, slices.Concat(text[:at], []byte{text[at] ^ 1}, text[at+1:]))
		}
	}
	return all
}

// macaroonV1 parses a macaroon in packets
//
//	packet = length[4 hexadecimal digits] || name || " " || value || "\n"
//
// whose length counts all of it.
func macaroonV1(raw []byte) (m macaroon, ok bool) {
	for at := 0; at+4 <= len(raw); {
		n, err := strconv.ParseUint(string(raw[at:at+4]), 16, 16)
		end := at + int(n)
		if err != nil || n < 5 || end > len(raw) {
			return m, false
		}
		name, value, _ := bytes.Cut(bytes.TrimSuffix(raw[at+4:end], []byte("\n")), []byte(" "))
		switch string(name) {
		case "cid":
			m.caveats = append(m.caveats, value)
		case "signature":
			m.signature = value
			m.write = func(caveat, signature []byte) []byte {
				return slices.Concat(raw[:at], packet("cid", caveat), packet("signature", signature))
			}
			return m, end == len(raw) && len(value) == sha256.Size
		}
		at = end
	}
	return m, false
}

// packet returns a packet of a macaroon in format 1.
func packet(name string, value []byte) []byte {
	return fmt.Appendf(nil, "%04x%s %s\n", 4+len(name)+1+len(value)+1, name, value)
}

// The types of the fields of a macaroon in format 2.
const (
	endField        = 0
	identifierField = 2
	signatureField  = 6
)

// macaroonV2 parses a macaroon
//
//	0x02 || sections || 0x00 || 0x06 || 0x20 || signature[32]
//	section = { type || length as varint || value } || 0x00
//
// whose sections after the first are caveats.
func macaroonV2(raw []byte) (m macaroon, ok bool) {
	sections, ended := 0, true // ended: a section or the macaroon begins here
	for at := 1; at < len(raw) && raw[0] == 2; {
		if raw[at] == endField {
			if ended {
				rest, isSignature := bytes.CutPrefix(raw[at:], []byte{endField, signatureField, sha256.Size})
				m.signature = rest
				m.write = func(caveat, signature []byte) []byte {
					head := binary.AppendUvarint([]byte{identifierField}, uint64(len(caveat)))
					return slices.Concat(raw[:at], head, caveat, []byte{endField, endField, signatureField, sha256.Size}, signature)
				}
				return m, isSignature && len(rest) == sha256.Size && sections > 0
			}
			sections, ended, at = sections+1, true, at+1
			continue
		}
		n, size := binary.Uvarint(raw[at+1:])
		from := at + 1 + size
		if size <= 0 || n > uint64(len(raw)-from) {
			return m, false
		}
		if raw[at] == identifierField && sections > 0 {
			m.caveats = append(m.caveats, raw[from:from+int(n)])
		}
		ended, at = false, from+int(n)
	}
	return m, false
}
