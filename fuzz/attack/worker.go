package attack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
)

// workerLimits are what an attacked worker may do. It has to answer any one
// token in a few seconds, and may die of many.
var workerLimits = worker.Limits{Start: time.Minute, Request: 5 * time.Second, Restarts: 100}

// A remote is a worker under attack, in whichever process it is.
type remote struct {
	start  func(worker.Limits) (*worker.Client, error)
	client *worker.Client
	past   []worker.Event // of clients that were closed
}

// Dial starts a worker and returns it as a subject, with the function that ends
// it. name is what starts the worker, for witnesses.
func Dial(name []string, start func(worker.Limits) (*worker.Client, error)) (*Subject, func() error, error) {
	r := &remote{start: start}
	if err := r.dial(); err != nil {
		return nil, nil, err
	}
	s := &Subject{Design: r.client.Design(), Worker: name, Restart: r.restart,
		Misbehaviour: r.misbehaviour, LastWords: r.lastWords, Memory: r.memory}
	if s.Name == "" {
		s.Name = strings.Join(name, " ")
	}
	s.OwnClock = s.IsScheme() && !r.client.Has(worker.AbilityClock)
	if s.IsScheme() {
		s.NewScheme = func(c codecs.Config) (codecs.Scheme, error) { return r.design().NewScheme(c) }
	} else {
		s.NewCodec = func(c codecs.Config) (codecs.Codec, error) { return r.design().NewCodec(c) }
	}
	return s, func() error { return r.client.Close() }, nil
}

func (r *remote) dial() error {
	client, err := r.start(workerLimits)
	if err != nil {
		return err
	}
	r.client = client
	return nil
}

func (r *remote) design() *codecs.Design {
	d := r.client.Design()
	return &d
}

// memory is that of the process which runs now.
func (r *remote) memory() (worker.Memory, error) { return r.client.Memory() }

// restart ends the process and starts another one. Values that were opened before
// are of no use afterwards.
func (r *remote) restart() error {
	r.past = r.events()
	if err := r.client.Close(); err != nil {
		return err
	}
	return r.dial()
}

func (r *remote) events() []worker.Event { return slices.Concat(r.past, r.client.Events()) }

// misbehaviour says what the worker did that the protocol does not allow.
func (r *remote) misbehaviour() []string {
	var said []string
	for _, e := range r.events() {
		said = append(said, fmt.Sprintf("%s: %s (input %.200q)", e.Kind, e.Detail, e.Input))
	}
	return said
}

// lastWords is the first misbehaviour at whose end the worker had said something.
func (r *remote) lastWords() error {
	for _, e := range r.events() {
		if strings.TrimSpace(e.Stderr) != "" {
			return &worker.FaultError{Worker: r.client.Hello().Name, Event: e}
		}
	}
	return nil
}
