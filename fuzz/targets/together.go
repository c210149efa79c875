package targets

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"sealab/fuzz/program"
)

// atOnce is the choice, modulo oneIn, that makes concurrent calls. They take as long as
// hundreds of other relations: threads have to wake up, and on busy cores calls overlap by
// chance. The calls repeat until neededMeetings have overlapped, so that a replay shows the
// failure again, or for at most meetingRounds rounds.
const (
	atOnce         = 40
	oneIn          = 512
	neededMeetings = 200
	meetingRounds  = 4000
	dearRounds     = 20
)

// together checks that an answer does not depend on another call before it or, rarely, at the
// same time.
func (f *ringFamily) together(h heldToken, p *program.Program) error {
	if p.Uint16()%oneIn == atOnce {
		return f.meanwhile(h.token)
	}
	if !h.altered {
		if err := f.requireBeside(); err != nil {
			return err
		}
		return f.one.requireSame(h.token, h.payload)
	}
	got, refused, err := f.one.open(h.token)
	if err != nil {
		return err
	}
	if err := f.requireBeside(); err != nil {
		return err
	}
	return f.one.requireRepeated(h.token, got, refused)
}

// requireBeside makes the other call and checks its answer.
func (f *ringFamily) requireBeside() error {
	beside, err := f.one.sample(0)
	if err != nil {
		return err
	}
	return f.one.requireSame(beside.token, beside.payload)
}

// meanwhile opens a token repeatedly while another token is opened.
func (f *ringFamily) meanwhile(token []byte) error {
	got, refused, err := f.one.open(token)
	if err != nil {
		return err
	}
	left, met := meetingRounds, 0
	if f.one.dear {
		left = dearRounds
	}
	err = callDuring(f.requireBeside, func(others *atomic.Int64) error {
		for ; left > 0 && met < neededMeetings; left-- {
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

// callDuring runs call, and runs other repeatedly in another goroutine until call ends. others
// counts the runs of other. Both have ended when callDuring returns, even if call panics.
func callDuring(other func() error, call func(others *atomic.Int64) error) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	var others atomic.Int64
	var ended atomic.Bool
	var failed error // error of other
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
