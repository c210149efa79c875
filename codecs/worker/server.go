package worker

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Server serves one design on a pair of streams.
type Server struct {
	Design  codecs.Design
	Version string
	// Options are the defaults for an open request that omits them.
	Options map[string]string
	// Clock times the operation bench. If it is nil, the server lacks the
	// ability bench.
	Clock func() time.Time
}

// firstRoom is the initial size of the buffer for requests, in bytes.
const firstRoom = 1 << 10

// Serve answers the requests from in on out until in ends, each with one write.
// It returns an error only if a stream fails or a request is longer than 64
// MiB.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	session := newSession(s)
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, firstRoom), maxLine)
	for lines.Scan() {
		answer := append(session.answer(lines.Bytes()), '\n')
		if _, err := out.Write(answer); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("worker: request: %w", err)
	}
	return nil
}

// A session holds the instances that a client has opened. It is not safe for
// concurrent use.
type session struct {
	server *Server
	opened map[int64]*lab.Instance
	last   int64 // the last handle given out

	// The current request and its answer. All requests share their memory.
	request request
	line    line
}

func newSession(s *Server) *session {
	return &session{server: s, opened: make(map[int64]*lab.Instance), line: *newLine()}
}

// sessionOperations are the operations that are not jobs, by name.
var sessionOperations = map[string]func(*session) error{
	"hello": (*session).hello,
	"open":  (*session).open,
	"close": (*session).close,
	"bench": (*session).bench,
}

// answer returns the response to one line. It is valid until the next call.
func (s *session) answer(data []byte) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			answer = s.failed(fmt.Errorf("panic: %v", p))
		}
	}()
	s.line.reset()
	err := s.do(data)
	if err == nil {
		err = s.line.err
	}
	if err != nil {
		return s.failed(err)
	}
	return s.line.end()
}

// failed returns an answer with only an error, and drops a partly written
// answer.
func (s *session) failed(err error) []byte {
	s.line.reset()
	return s.line.failed(err).end()
}

func (s *session) do(data []byte) error {
	s.request = request{}
	if err := s.request.parse(data); err != nil {
		return err
	}
	if operation, ok := sessionOperations[string(s.request.Op)]; ok {
		return operation(s)
	}
	j, err := s.job(s.request.Op)
	if err != nil {
		return err
	}
	j.answer(&s.line)
	return nil
}

// job returns the named job on the handle of the request.
func (s *session) job(name []byte) (j job, err error) {
	t, ok := tasksByName[string(name)]
	if !ok {
		return j, codecs.ErrUnsupported
	}
	i, err := s.instance()
	if err != nil {
		return j, err
	}
	if t.kind != s.server.Design.Kind() {
		return j, codecs.ErrUnsupported
	}
	j.task = t
	context, err := s.request.context(s.server.Design.IsScheme())
	if err != nil {
		return j, err
	}
	j.codec = i.At(context)
	j.inputs, j.batch, err = t.inputs(&s.request)
	return j, err
}

// instance returns the instance of the handle in the request.
func (s *session) instance() (*lab.Instance, error) {
	i, ok := s.opened[s.request.Handle]
	if !ok {
		return nil, fmt.Errorf("there is no handle %d", s.request.Handle)
	}
	return i, nil
}

func (s *session) hello() error {
	if s.request.Protocol != Version {
		return fmt.Errorf("got protocol %d, want %d", s.request.Protocol, Version)
	}
	d := &s.server.Design
	l := s.line.done().int("protocol", Version).text("name", d.Name).text("version", s.server.Version)
	appendTexts(l.text("kind", string(d.Kind())), "abilities", s.server.abilities())
	l.guarantees(d.GuaranteesFor(s.server.Options)).choices(d.Options)
	return nil
}

func (s *Server) abilities() []Ability {
	as := []Ability{AbilityBatch}
	if s.Design.IsScheme() {
		as = append(as, AbilityClock)
	}
	if s.Clock != nil {
		as = append(as, AbilityBench)
	}
	return as
}

func (s *session) open() error {
	c, err := s.request.config(s.server.Options)
	if err != nil {
		s.line.refused(err)
		return nil
	}
	i, err := lab.Open(s.server.Design, c)
	if err != nil {
		s.line.refused(err)
		return nil
	}
	s.last++
	s.opened[s.last] = i
	s.line.done().int("handle", s.last)
	return nil
}

func (s *session) close() error {
	if _, err := s.instance(); err != nil {
		return err
	}
	delete(s.opened, s.request.Handle)
	s.line.done()
	return nil
}

// bench repeats an operation and answers with the elapsed time.
func (s *session) bench() error {
	clock := s.server.Clock
	if clock == nil {
		return codecs.ErrUnsupported
	}
	j, err := s.job(s.request.Do)
	if err != nil {
		return err
	}
	start := clock()
	if err := j.repeat(s.request.N); err != nil {
		return err
	}
	s.line.done().int("elapsed_ns", clock().Sub(start).Nanoseconds())
	return nil
}
