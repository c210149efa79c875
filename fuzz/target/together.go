package target

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"sealab/fuzz/program"
)

// atOnce is the choice, modulo oneIn, for calls at the same time. Those take as
// long as hundreds of other relations: threads have to wake, and with fewer
// rounds it is chance whether calls meet, and whether they do so again when the
// input is run again. Long calls meet sooner.
const (
	atOnce     = 40
	oneIn      = 512
	rounds     = 1000
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
	n := rounds
	if f.one.dear {
		n = dearRounds
	}
	err = during(f.requireBeside, func() error {
		for range n {
			if err := f.one.requireRepeated(token, got, refused); err != nil {
				return err
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
// done. Both have ended when it returns, and when call panics.
func during(other, call func() error) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	var begun, ended atomic.Bool
	var failed error // of other
	var wait sync.WaitGroup
	wait.Go(func() {
		for failed == nil && !ended.Load() {
			begun.Store(true)
			failed = other()
		}
	})
	defer func() {
		ended.Store(true)
		wait.Wait()
		err = errors.Join(err, failed)
	}()
	for !begun.Load() {
		runtime.Gosched()
	}
	return call()
}
