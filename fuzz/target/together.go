package target

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"sealab/fuzz/program"
)

// atOnce is the choice of 256 for calls at the same time. Those take as long as
// hundreds of other relations: threads have to wake, and with fewer rounds it is
// chance whether calls meet, and whether they do so again when the input is
// run again.
const (
	atOnce = 40
	rounds = 1000
)

// together: an answer does not depend on another call before it or, seldom, at
// the same time.
func (f family) together(p *program.Program) error {
	what, got, refused, err := f.opened(p)
	if err != nil {
		return err
	}
	other := func() error { return f.one.requireSame(f.beside, besidePayload) }
	if p.Byte() != atOnce {
		if err := other(); err != nil {
			return err
		}
		return f.one.requireRepeated(what.token, got, refused)
	}
	err = during(other, func() error {
		for range rounds {
			if err := f.one.requireRepeated(what.token, got, refused); err != nil {
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
