package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"sealab/codecs"
)

// lengthLies writes extreme numbers over every window of the first bytes of each
// piece, as a length, a count or an offset may stand there.
func lengthLies(t *Trial) {
	if t.Subject.Memory != nil {
		t.liesElsewhere()
		return
	}
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, lie := range t.liesIn(p, tok) {
		t.try(codecs.Total)
		before := t.allocatedAbout()
		t.change(p, tok, lie.text, lie.how)
		if t.allocatedAbout()-before < 8<<20 || t.fell(codecs.Total) {
			continue
		}
		if grown := t.allocates(16<<20, func() { p.unseal(lie.text, tok.Under) }); grown > 16<<20 {
			t.refute(codecs.Total, fmt.Sprintf("%s makes the reader allocate %d MiB for %d bytes", lie.how, grown>>20, len(tok.Text)))
		}
	}
}

// A lengthLie is a token in which a number is another one.
type lengthLie struct {
	piece, at int
	number    []byte
	text      []byte
	how       string
}

// liesIn are the lies that fit in tok.
func (t *Trial) liesIn(p *Party, tok *Token) []lengthLie {
	var all []lengthLie
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for at := range min(len(raw), 40) {
			for _, number := range lies(len(raw) - at) {
				altered := bytes.Clone(raw)
				copy(altered[at:], number)
				all = append(all, lengthLie{i, at, number, s.with(i, altered), fmt.Sprintf("%x written at byte %d of piece %d", number, at, i)})
			}
		}
	}
	return all
}

// lies are numbers of one to eight bytes that no honest length is.
func lies(room int) [][]byte {
	all := [][]byte{{0}, {0x7f}, {0xff}, {0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0x7f},
		binary.BigEndian.AppendUint32(nil, 1<<30), binary.LittleEndian.AppendUint32(nil, 1<<30),
		binary.BigEndian.AppendUint64(nil, 1<<62), bytes.Repeat([]byte{0xff}, 8), make([]byte, 4), make([]byte, 8)}
	var fit [][]byte
	for _, lie := range all {
		if len(lie) <= room {
			fit = append(fit, lie)
		}
	}
	return fit
}
