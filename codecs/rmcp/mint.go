package rmcp

import (
	"encoding/binary"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *Scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return s.mint(dst, nil, state, c, nil)
}

func (s *Scheme) mint(dst, _, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Free()
	data, err := s.bind(work.Bytes, c)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	work.Bytes = data
	head := edit.Apply(lab.StepPrefix, s.version.prefix)
	var id []byte
	if s.version.keyID {
		id = edit.Apply(lab.StepKeyID, []byte(s.ids[0]))
	}
	data = edit.Apply(lab.StepAAD, data)
	n := len(work.Bytes)
	work.Grow(expirySize + len(state))
	work.Bytes = append(binary.BigEndian.AppendUint64(work.Bytes, uint64(s.expiry(c.Now))), state...)
	body := edit.Give(lab.StepClaims, work.Bytes[n:])
	front := s.version.appendHead(nil, id, data)
	tag := edit.Give(lab.StepTag, s.keys[0].Append(nil, front, body))

	dst = append(dst, edit.Apply(lab.WirePrefix, head)...)
	if s.version.keyID {
		dst = layouts.AppendSeparator(layouts.AppendSegment(dst, edit, lab.WireKeyID, id), edit)
	}
	dst = layouts.AppendSeparator(layouts.AppendSegment(dst, edit, lab.WireBody, body), edit)
	return layouts.AppendSegment(dst, edit, lab.WireTag, tag), nil
}
