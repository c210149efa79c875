package proof

import (
	"context"
	"path/filepath"
	"time"
)

// until runs hunt until it ends, ctx ends, or a file that matches pattern is
// there: then it calls found and ends the hunt. ended says that the hunt ended
// before any of it.
func until(ctx context.Context, pattern string, found func(), hunt func(context.Context) error) (ended bool, err error) {
	hunting, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if appears(hunting, pattern) {
			found()
			stop()
		}
	}()
	err = hunt(hunting)
	ended = hunting.Err() == nil
	stop()
	<-watched
	return ended, err
}

// appears waits until a file that matches pattern is there, or ctx ends.
func appears(ctx context.Context, pattern string) bool {
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	for {
		if names, _ := filepath.Glob(pattern); len(names) > 0 { // the pattern is well formed
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-looks.C:
		}
	}
}
