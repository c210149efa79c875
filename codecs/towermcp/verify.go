package towermcp

import (
	"bytes"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/rawjson"
)

// The refusals, named after the variants of the crate's error.
var (
	errTooLarge  = codecs.Reject(codecs.Malformed, "TooLarge")
	errMalformed = codecs.Reject(codecs.Malformed, "Malformed")
	errVersion   = codecs.Reject(codecs.Malformed, "UnsupportedVersion")
	errMAC       = codecs.Reject(codecs.Unauthentic, "Integrity")
	errDecode    = codecs.Reject(codecs.Malformed, "Decode")
	errExpired   = codecs.Reject(codecs.Expired, "Expired")
	errSubject   = codecs.Reject(codecs.Misbound, "SubjectMismatch")
	errClock     = codecs.Reject(codecs.Expired, "Clock")
)

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := c.Check(); err != nil {
		return dst, err
	}
	if c.Now.Unix() < 0 {
		return dst, errClock
	}
	room := base64url.GetScratch()
	defer room.Free()
	text, refused := s.authenticate(room, token)
	if refused != nil {
		return dst, refused
	}
	e, state, ok := s.decode(text)
	if !ok {
		return dst, errDecode
	}
	if uint64(c.Now.Unix()) > e.expires {
		return dst, errExpired
	}
	if (e.subject == nil) != (c.Principal == nil) || e.subject != nil && *e.subject != *c.Principal {
		return dst, errSubject
	}
	return s.payload.toState(dst, &state), nil
}

// authenticate returns the claims of a token with a valid mac, in room.
func (s *scheme) authenticate(room *base64url.Scratch, token []byte) ([]byte, *codecs.RejectError) {
	//mutant:equivalent no vector is as long
	if len(token) > s.limit {
		return nil, errTooLarge
	}
	version, rest, _ := bytes.Cut(token, []byte(layouts.Separator))
	segments := bytes.Count(token, []byte(layouts.Separator))
	if !s.keyed && segments != 2 { // 0.22.2 counts the parts before it checks the version
		return nil, errMalformed
	}
	switch want := string(version) + layouts.Separator; {
	case want == prefixV1 && (!s.keyed || s.faithful):
		if segments != 2 {
			return nil, errMalformed
		}
		return open1(room, &s.keys[0], token)
	case want == prefixV2 && s.keyed:
		if segments != 3 {
			return nil, errMalformed
		}
		id, _, _ := bytes.Cut(rest, []byte(layouts.Separator))
		k := s.keyFor(id)
		if k == nil {
			return nil, errMAC
		}
		return open1(room, k, token)
	}
	return nil, errVersion
}

// open1 returns the claims of a token under one key. The mac covers the text
// before the last dot, and the claims are the segment before it.
func open1(room *base64url.Scratch, k *key, token []byte) ([]byte, *codecs.RejectError) {
	end := layouts.LastSeparator(token)
	signed, tag := token[:end], token[end+1:]
	if !room.Decode(tag) {
		return nil, errMalformed
	}
	//mutant:equivalent the tokens of vectors are UTF-8
	if !utf8.Valid(signed) { // a Rust str is UTF-8
		return nil, errMAC
	}
	if !k.mac.Verify(room.Bytes, signed) {
		return nil, errMAC
	}
	room.Bytes = room.Bytes[:0]
	if !room.Decode(signed[bytes.LastIndexByte(signed, layouts.Separator[0])+1:]) {
		return nil, errMalformed
	}
	return room.Bytes, nil
}

// decode reads the claims as serde_json reads the crate's envelope. In the
// strict reading it also checks that they are canonical.
func (s *scheme) decode(text []byte) (e envelope, state rawjson.Value, ok bool) {
	v, err := ignoring.Parse(text)
	if err != nil {
		return e, state, false
	}
	fields, ok := envelopeOf(&v)
	if !ok {
		return e, state, false
	}
	issued, okIssued := readUint(fields[0])
	expires, okExpires := readUint(fields[1])
	if !okIssued || !okExpires || !s.payload.accepts(fields[3]) {
		return e, state, false
	}
	e = envelope{issued: issued, expires: expires}
	if subject := fields[2]; subject != nil && subject.Kind != rawjson.Null {
		if subject.Kind != rawjson.String || !utf8.Valid(subject.Text) {
			return e, state, false
		}
		e.subject = new(string(subject.Text))
	}
	state = *fields[3]
	return e, state, s.faithful || s.isCanonical(&e, &state, text)
}

// envelopeOf returns the values of issued_at, expires_at, subject, which may be
// nil, and state. They are the members of an object, each at most once, or the
// four elements of a list.
func envelopeOf(v *rawjson.Value) (fields [4]*rawjson.Value, ok bool) {
	if v.Kind == rawjson.Array && len(v.Items) == len(fields) {
		for i := range fields {
			fields[i] = &v.Items[i]
		}
		return fields, true
	}
	for i := range v.Members {
		m := &v.Members[i]
		at, known := places[string(m.Name)]
		if !utf8.Valid(m.Name) || known && fields[at] != nil {
			return fields, false
		}
		if known {
			fields[at] = &m.Value
		}
	}
	return fields, fields[0] != nil && fields[1] != nil && fields[3] != nil
}

// places maps the fields of the envelope to their order.
var places = map[string]int{"issued_at": 0, "expires_at": 1, "subject": 2, "state": 3}

// isCanonical reports whether Mint writes text for these claims.
func (s *scheme) isCanonical(e *envelope, state *rawjson.Value, text []byte) bool {
	value, _ := s.payload.fromState(nil, s.payload.toState(nil, state)) // an accepted state can always be minted
	return e.expires >= e.issued && bytes.Equal(e.append(make([]byte, 0, len(text)), value), text)
}
