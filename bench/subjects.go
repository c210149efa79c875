package bench

import (
	"sealab/bench/baseline"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/golibs"
	"sealab/internal/lab"
	"sealab/internal/runfile"
)

// Subjects returns everything that can be measured in this process: the
// catalog, its first codec a second time, the floors, and the peers. What lives
// in another process is appended by who starts it.
func Subjects() []Subject {
	var all []Subject
	for _, d := range catalog.All() {
		all = append(all, FromDesign(d))
	}
	for _, s := range all {
		if s.Role == runfile.RoleDesign {
			all = append(all, repeat(s))
			break
		}
	}
	for _, f := range baseline.All() {
		all = append(all, fromFloor(f))
	}
	for _, d := range golibs.All() {
		all = append(all, fromPeer(d))
	}
	return all
}

// FromDesign returns the subject of a row of the catalog.
func FromDesign(d codecs.Design) Subject {
	s := Subject{Subject: runfile.Subject{
		Name: d.Name, Role: runfile.RoleDesign, Doc: d.Doc, Kind: kindOf(d),
		Primitive: lab.HooksOf(d).Primitive, Amortised: lab.HooksOf(d).Amortised,
	}}
	m := newMeasured(d, openerOf(d))
	s.Prepare = m.prepare
	if d.IsScheme() {
		// Rings are the codec's business, and long to set up a second time.
		s.Role, m.maxKeys = runfile.RoleScheme, 1
	}
	return s
}

func fromPeer(d codecs.Design) Subject {
	s := FromDesign(d)
	s.Role = runfile.RolePeer
	return s
}

// openerOf returns how d is set up with the options it has by default.
func openerOf(d codecs.Design) opener {
	return func(secrets [][]byte) (codecs.Codec, error) {
		in, err := lab.Open(d, codecs.Config{Secrets: secrets})
		if err != nil {
			return nil, err
		}
		return in.At(&request), nil
	}
}

// kindOf returns what the tokens of d do for their payload, from what d states.
func kindOf(d codecs.Design) runfile.Kind {
	if g, _ := d.Guarantee(codecs.Confidentiality); g.Holds {
		return runfile.Encrypts
	}
	return runfile.Signs
}

// fromFloor returns the subject of a floor, which seals and unseals only.
func fromFloor(f baseline.Floor) Subject {
	open := func([][]byte) (codecs.Codec, error) {
		key, err := baseline.Key()
		if err != nil {
			return nil, err
		}
		return f.Open(key)
	}
	m := newMeasured(codecs.Design{MaxKeys: 1}, open)
	prepare := func(op runfile.Op, payload []byte) (Cell, error) {
		if op.Refuses() {
			return Cell{}, codecs.ErrUnsupported
		}
		return m.prepare(op, payload)
	}
	return Subject{
		Subject: runfile.Subject{Name: f.Name, Role: runfile.RoleFloor, Doc: f.Doc, Primitive: f.Primitive},
		Prepare: prepare,
	}
}
