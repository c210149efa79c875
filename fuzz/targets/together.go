package targets

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"sealab/fuzz/program"
)

// atOnce is the choice, modulo oneIn, for calls at the same time. Those take as
// long as hundreds of other relations: threads have to wake, and where cores are
// busy it is chance whether calls meet. They are made until so many have met that
// they will again when the input is run again, or for so many rounds.
const (
	atOnce     = 40
	oneIn      = 512
	meetings   = 200
	rounds     = 4000
	dearRounds = 20
)

// together: an answer does not depend on another call before it or, seldom, at
// the same time.
func (f *family) together(p *program.Program) error {
	what, err := f.present(p)
	if err != nil {
		return err
	}
	if p.Uint16()%oneIn == atOnce {
		return f.meanwhile(what.token)
	}
	if !what.altered {
		if err := f.requireBeside(); err != nil {
			return err
		}
		return f.one.requireSame(what.token, what.payload)
	}
	got, refused, err := f.one.open(what.token)
	if err != nil {
		return err
	}
	if err := f.requireBeside(); err != nil {
		return err
	}
	return f.one.requireRepeated(what.token, got, refused)
}

// requireBeside is another call.
func (f *family) requireBeside() error {
	beside, err := f.one.sample(0)
	if err != nil {
		return err
	}
	return f.one.requireSame(beside.token, beside.payload)
}

// meanwhile opens a token again and again while another one is opened.
func (f *family) meanwhile(token []byte) error {
	got, refused, err := f.one.open(token)
	if err != nil {
		return err
	}
	left, met := rounds, 0
	if f.one.dear {
		left = dearRounds
	}
	err = during(f.requireBeside, func(others *atomic.Int64) error {
		for ; left > 0 && met < meetings; left-- {
			before := others.Load()
			if err := f.one.requireRepeated(token, got, refused); err != nil {
				return err
			}
			if others.Load() != before {
				met++
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("beside another call: %w", err)
	}
	return nil
}

// during calls call, and other again and again in another thread until that is
// done; others counts how often it was. Both have ended when during returns,
// and when call panics.
func during(other func() error, call func(others *atomic.Int64) error) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	var others atomic.Int64
	var ended atomic.Bool
	var failed error // of other
	var wait sync.WaitGroup
	wait.Go(func() {
		for failed == nil && !ended.Load() {
			failed = other()
			others.Add(1)
		}
	})
	defer func() {
		ended.Store(true)
		wait.Wait()
		err = errors.Join(err, failed)
	}()
	for others.Load() == 0 {
		runtime.Gosched()
	}
	return call(&others)
}
