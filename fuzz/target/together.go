package target

import (
	"errors"
	"fmt"
	"runtime"
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
	end := calling(other)
	for i := 0; i < rounds && err == nil; i++ {
		err = f.one.requireRepeated(what.token, got, refused)
	}
	if err := errors.Join(err, end()); err != nil {
		return fmt.Errorf("beside another call: %w", err)
	}
	return nil
}

// calling calls in another thread, until it is told to end. Its error is the first.
func calling(call func() error) (end func() error) {
	before := runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	var begun, ended atomic.Bool
	result := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !ended.Load() {
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
