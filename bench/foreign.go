package bench

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
	"sealab/internal/runfile"
)

// FromWorker returns the subject of an implementation in another process, which
// answers as the subject called mirrors does. It mints and verifies for the
// request that schemes are measured with, and the worker itself times that, so
// that no pipe is in the figures. A worker without the ability bench has no
// operation.
func FromWorker(c *worker.Client, mirrors string) Subject {
	d := c.Design()
	m := newMeasured(d, openerOf(d))
	m.maxKeys = 1
	return Subject{
		Subject: runfile.Subject{Name: d.Name, Role: runfile.RoleForeign, Doc: d.Doc, Kind: kindOf(d), Mirrors: mirrors},
		Prepare: m.prepareForeign,
	}
}

// prepareForeign is prepare for a codec in a worker.
func (m *measured) prepareForeign(op runfile.Op, payload []byte) (Cell, error) {
	c, err := m.ring(1)
	if err != nil {
		return Cell{}, err
	}
	timed, ok := inside(c).(worker.Benchmark)
	if !ok {
		return Cell{}, fmt.Errorf("sealab: it is not a worker: %w", codecs.ErrUnsupported)
	}
	token, err := c.Seal(nil, payload)
	if err != nil {
		return Cell{}, err
	}
	cell := Cell{TokenSize: len(token)}
	switch op {
	case runfile.Seal:
		cell.Run = func(n int) (time.Duration, error) { return timed.BenchMake(n, payload, &request) }
	case runfile.Unseal:
		if _, err := unsealing(c, token, payload); err != nil {
			return Cell{}, err
		}
		cell.Run = func(n int) (time.Duration, error) { return timed.BenchJudge(n, token, &request) }
	default:
		return Cell{}, codecs.ErrUnsupported
	}
	return cell, nil
}

// inside returns the codec or scheme of an instance, and any other codec itself.
func inside(c codecs.Codec) any {
	if b, ok := c.(*lab.Bound); ok {
		return b.Instance.Opened()
	}
	return c
}
