package attack

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
)

// workerLimits are the limits of a worker under attack. It has to answer each token within a
// few seconds of its own work, and is restarted whenever it dies.
var workerLimits = worker.Limits{Start: time.Minute, Request: 5 * time.Second, Patience: 4, Restarts: 200}

// A remote is a worker under attack. A restart replaces its process.
type remote struct {
	start  func(worker.Limits) (*worker.Client, error)
	client *worker.Client
	past   []worker.Event // events of clients that were closed
	said   []string       // all events so far
	waited atomic.Int64   // nanoseconds of deadlines that passed
	lost   error          // the error of the last start if no process runs
}

// Dial starts a worker and returns it as a design, with a function that ends it. The name is
// the worker's command, for findings.
func Dial(name []string, start func(worker.Limits) (*worker.Client, error)) (*Design, func() error, error) {
	r := &remote{start: start}
	if err := r.dial(); err != nil {
		return nil, nil, err
	}
	d := &Design{Design: r.client.Design(), Worker: name, Restart: r.restart,
		Misbehavior: r.misbehavior, LastWords: r.lastWords, Memory: r.memory, Work: r.work,
		Waited: func() time.Duration { return time.Duration(r.waited.Load()) }, Lost: func() error { return r.lost }}
	if d.Name == "" {
		d.Name = strings.Join(name, " ")
	}
	d.OwnClock = d.IsScheme() && !r.client.Has(worker.AbilityClock)
	if d.IsScheme() {
		d.NewScheme = func(c codecs.Config) (codecs.Scheme, error) { return r.design().NewScheme(c) }
	} else {
		d.NewCodec = func(c codecs.Config) (codecs.Codec, error) { return r.design().NewCodec(c) }
	}
	return d, func() error { return r.client.Close() }, nil
}

func (r *remote) dial() error {
	limits := workerLimits
	limits.AfterFunc = r.afterFunc
	client, err := r.start(limits)
	if err != nil {
		return err
	}
	r.client = client
	return nil
}

// afterFunc starts a deadline timer. If the deadline passes, it adds its length to waited.
func (r *remote) afterFunc(d time.Duration, f func()) worker.Timer {
	return time.AfterFunc(d, func() {
		r.waited.Add(int64(d))
		f()
	})
}

func (r *remote) design() *codecs.Design {
	d := r.client.Design()
	return &d
}

// memory returns the memory of the current process.
func (r *remote) memory() (worker.Memory, error) { return r.client.Memory() }

// work returns the processor time of the current process.
func (r *remote) work() (time.Duration, error) { return r.client.Work() }

// startAttempts is the number of attempts to start a process. A busy machine may delay its
// first answer.
const startAttempts = 3

// restart ends the process and starts another one. Instances opened before become unusable.
func (r *remote) restart() error {
	r.past = r.events()
	if err := r.client.Close(); err != nil {
		return err
	}
	for range startAttempts {
		if r.lost = r.dial(); r.lost == nil {
			return nil
		}
	}
	return r.lost
}

func (r *remote) events() []worker.Event { return slices.Concat(r.past, r.client.Events()) }

// misbehavior returns the breaches of the protocol as texts.
func (r *remote) misbehavior() []string {
	for _, e := range r.events()[len(r.said):] {
		r.said = append(r.said, fmt.Sprintf("%s: %s (input %.200q)", e.Kind, e.Detail, e.Input))
	}
	return r.said
}

// lastWords returns the first misbehavior with text on standard error.
func (r *remote) lastWords() error {
	for _, e := range r.events() {
		if strings.TrimSpace(e.Stderr) != "" {
			return &worker.FaultError{Worker: r.client.Hello().Name, Event: e}
		}
	}
	return nil
}
