package rmcp

import (
	"encoding/binary"

	"sealab/codecs"
	"sealab/codecs/claims"
)

// A binder appends the associated data that an application gives the crate for a
// context. It fails if the context has none.
type binder func(dst []byte, c *codecs.Context) ([]byte, error)

// binders are the values of the option bind.
var binders = map[string]binder{
	bindNone:    func(dst []byte, _ *codecs.Context) ([]byte, error) { return dst, nil },
	bindDocs:    appendDocs,
	bindRequest: appendRequest,
}

func appendDocs(dst []byte, c *codecs.Context) ([]byte, error) {
	dst = append(dst, "user:"...)
	if c.Principal != nil {
		dst = append(dst, *c.Principal...)
	}
	dst = append(append(dst, '|'), c.Method...)
	return append(append(dst, ':'), c.Target...), nil
}

func appendRequest(dst []byte, c *codecs.Context) ([]byte, error) {
	digest, err := claims.AppendDigest(nil, c.Method, c.Arguments)
	if err != nil {
		return dst, err
	}
	dst = appendCounted(appendCounted(dst, c.Method), c.Target)
	dst = appendCounted(dst, string(digest))
	return appendOptional(appendOptional(dst, c.Principal), c.Audience), nil
}

// appendCounted appends a text behind its length.
func appendCounted(dst []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(text))), text...)
}

func appendOptional(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, 0)
	}
	return appendCounted(append(dst, 1), *text)
}

// appendHead appends the authenticated text before the body: the domain, the key
// ID if the format has one, and the associated data.
func (v *version) appendHead(dst, keyID, data []byte) []byte {
	dst = append(dst, v.domain...)
	if v.keyID {
		dst = append(binary.BigEndian.AppendUint64(dst, uint64(len(keyID))), keyID...)
	}
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(data))), data...)
}
