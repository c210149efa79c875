package rmcp

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
)

// The refusals, named after the variants of the crate's error.
var (
	errFormat   = codecs.Reject(codecs.Malformed, "MalformedFormat")
	errEncoding = codecs.Reject(codecs.Malformed, "InvalidEncoding")
	errKeyID    = codecs.Reject(codecs.Malformed, "InvalidKeyId")
	errUnknown  = codecs.Reject(codecs.UnknownKey, "UnknownKeyId")
	errMAC      = codecs.Reject(codecs.Unauthentic, "IntegrityCheckFailed")
	errExpired  = codecs.Reject(codecs.Expired, "Expired")
	// errNoExpiry is a refusal of the strict reading only.
	errNoExpiry = codecs.Reject(codecs.Malformed, "no expiry")
)

// maxKeyIDText is the maximum length of a key ID in base64url.
var maxKeyIDText = base64url.EncodedLen(maxKeyID)

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	if err := s.check(c); err != nil {
		return dst, err
	}
	room := base64url.GetScratch()
	defer room.Free()
	body, refused := s.authenticate(room, token, c)
	if refused != nil {
		return dst, refused
	}
	if len(body) < expirySize {
		return dst, errFormat
	}
	expiry := int64(binary.BigEndian.Uint64(body))
	if expiry != 0 && framework.Milliseconds(c.Now) > expiry {
		return dst, errExpired
	}
	if expiry == 0 && !s.never && !s.faithful {
		return dst, errNoExpiry
	}
	return append(dst, body[expirySize:]...), nil
}

// authenticate returns the body of a token with a valid mac, in room.
func (s *scheme) authenticate(room *base64url.Scratch, token []byte, c *codecs.Context) ([]byte, *codecs.RejectError) {
	var segments [4][]byte
	n := 0
	for part := range bytes.SplitSeq(token, []byte(layouts.Separator)) {
		if n == len(segments) {
			n++ // one too many; the version is checked first
			break
		}
		segments[n] = part
		n++
	}
	switch string(segments[0]) + layouts.Separator {
	case string(rs1.prefix):
		if n != 3 {
			return nil, errFormat
		}
		return s.openRS1(room, segments[1], segments[2], c)
	case string(rs2.prefix):
		if n != 4 {
			return nil, errFormat
		}
		return s.openRS2(room, segments[1], segments[2], segments[3], c)
	}
	return nil, errFormat
}

func (s *scheme) openRS1(room *base64url.Scratch, body, tag []byte, c *codecs.Context) ([]byte, *codecs.RejectError) {
	if !s.fallback {
		return nil, errUnknown
	}
	return s.openUnder(room, s.keys, &rs1, nil, body, tag, c)
}

func (s *scheme) openRS2(room *base64url.Scratch, keyID, body, tag []byte, c *codecs.Context) ([]byte, *codecs.RejectError) {
	if len(keyID) > maxKeyIDText {
		return nil, errKeyID
	}
	if !room.Decode(keyID) {
		return nil, errEncoding
	}
	id := room.Bytes
	if len(id) == 0 || !utf8.Valid(id) {
		return nil, errKeyID
	}
	for i := range s.keys {
		if s.version.keyID && s.ids[i] == string(id) {
			return s.openUnder(room, s.keys[i:i+1], &rs2, []byte(s.ids[i]), body, tag, c)
		}
	}
	return nil, errUnknown
}

// openUnder returns the body of a token whose mac is valid under one of the
// keys.
func (s *scheme) openUnder(room *base64url.Scratch, keys mac.Ring, v *version, keyID, bodyText, tagText []byte, c *codecs.Context) ([]byte, *codecs.RejectError) {
	start := len(room.Bytes)
	if !room.Decode(bodyText) {
		return nil, errEncoding
	}
	n := len(room.Bytes)
	if !room.Decode(tagText) {
		return nil, errEncoding
	}
	body, tag := room.Bytes[start:n], room.Bytes[n:]
	data, err := s.bind(nil, c)
	if err != nil {
		return nil, errMAC // no token can exist for such a context
	}
	front := v.head(keyID, data)
	if !keys.Verify(tag, front, body) {
		return nil, errMAC
	}
	return body, nil
}
