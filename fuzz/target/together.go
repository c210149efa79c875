package target

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"sealab/fuzz/program"
)

// atOnce is the choice of sixty-four for calls at the same time. Threads that
// have to wake take as long as many other relations.
const atOnce = 40

// together: an answer does not depend on another call before it or, seldom, at
// the same time.
func (f family) together(p *program.Program) error {
	what, got, refused, err := f.opened(p)
	if err != nil {
		return err
	}
	other := func() error { return f.one.requireSame(f.beside, besidePayload) }
	if p.Pick(64) != atOnce {
		if err := other(); err != nil {
			return err
		}
		return f.one.requireRepeated(what.token, got, refused)
	}
	end := calling(other)
	for i := 0; i < 8 && err == nil; i++ {
		err = f.one.requireRepeated(what.token, got, refused)
	}
	if err := errors.Join(err, end()); err != nil {
		return fmt.Errorf("beside another call: %w", err)
	}
	return nil
}

// maxCalls is how often calling calls at most, on a machine with one processor.
const maxCalls = 200

// calling calls in another thread, until it is told to end. Its error is the first.
func calling(call func() error) (end func() error) {
	before := runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	var begun, ended atomic.Bool
	result := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < maxCalls && err == nil && !ended.Load(); i++ {
			begun.Store(true)
			err = call()
		}
		result <- err
	}()
	for !begun.Load() {
		runtime.Gosched()
	}
	return func() error {
		ended.Store(true)
		err := <-result
		runtime.GOMAXPROCS(before)
		return err
	}
}
