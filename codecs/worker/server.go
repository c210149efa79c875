package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"sealab/codecs"
)

// A Server serves one design on a pair of streams.
type Server struct {
	Design  codecs.Design
	Version string
	// Options are what an open that does not name them gets.
	Options map[string]string
	// Clock times the bench operation. nil: the server has no ability bench.
	Clock func() time.Time
}

// Serve answers the requests of in on out until in ends. It returns an error
// only where a stream fails or a request is longer than [MaxLine].
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	session := newSession(s)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxLine)
	for lines.Scan() {
		answer := append(session.answer(lines.Bytes()), '\n')
		if _, err := out.Write(answer); err != nil {
			return fmt.Errorf("sealab: worker: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("sealab: worker: request: %w", err)
	}
	return nil
}

// A session is what one client has opened.
type session struct {
	server *Server
	opened map[int64]instance
	last   int64 // the last handle given out
}

func newSession(s *Server) *session {
	return &session{server: s, opened: make(map[int64]instance)}
}

// operations are the operations that do not need a job, by name.
var operations = map[string]func(*session, *request) (*line, error){
	"hello": (*session).hello,
	"open":  (*session).open,
	"close": (*session).close,
	"bench": (*session).bench,
}

// answer returns the response to one line.
func (s *session) answer(data []byte) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			answer = failed(fmt.Errorf("sealab: panic: %v", p)).end()
		}
	}()
	l, err := s.do(data)
	if err == nil {
		err = l.err
	}
	if err != nil {
		l = failed(err)
	}
	return l.end()
}

func (s *session) do(data []byte) (*line, error) {
	r, err := parseRequest(data)
	if err != nil {
		return nil, err
	}
	if operation, ok := operations[r.Op]; ok {
		return operation(s, r)
	}
	j, err := s.job(r.Op, r)
	if err != nil {
		return nil, err
	}
	return j.answer(), nil
}

func parseRequest(data []byte) (*request, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("sealab: the request is not UTF-8")
	}
	var r request
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("sealab: the request cannot be read: %w", err)
	}
	return &r, nil
}

// job returns the job called name on the handle that the request names.
func (s *session) job(name string, r *request) (*job, error) {
	prepare, ok := jobs[name]
	if !ok {
		return nil, codecs.ErrUnsupported
	}
	i, err := s.instance(r.Handle)
	if err != nil {
		return nil, err
	}
	return prepare(i, r)
}

func (s *session) instance(handle int64) (instance, error) {
	i, ok := s.opened[handle]
	if !ok {
		return instance{}, fmt.Errorf("sealab: there is no handle %d", handle)
	}
	return i, nil
}

func (s *session) hello(r *request) (*line, error) {
	if r.Protocol != Version {
		return nil, fmt.Errorf("sealab: got protocol %d, want %d", r.Protocol, Version)
	}
	d := &s.server.Design
	guarantees := make(map[codecs.Property]bool, len(d.Guarantees))
	for _, g := range d.Guarantees {
		guarantees[g.Property] = g.Holds
	}
	return done().int("protocol", Version).text("name", d.Name).text("version", s.server.Version).
		text("kind", string(d.Kind())).json("abilities", s.server.abilities()).
		json("guarantees", guarantees).json("options", choices(d.Options)), nil
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

func (s *session) open(r *request) (*line, error) {
	c, err := r.config(s.server.Options)
	if err != nil {
		return refused(err), nil
	}
	i, err := open(&s.server.Design, c)
	if err != nil {
		return refused(err), nil
	}
	s.last++
	s.opened[s.last] = i
	return done().int("handle", s.last), nil
}

func (s *session) close(r *request) (*line, error) {
	if _, err := s.instance(r.Handle); err != nil {
		return nil, err
	}
	delete(s.opened, r.Handle)
	return done(), nil
}

// bench repeats one operation and says how long that took.
func (s *session) bench(r *request) (*line, error) {
	clock := s.server.Clock
	if clock == nil {
		return nil, codecs.ErrUnsupported
	}
	j, err := s.job(r.Do, r)
	if err != nil {
		return nil, err
	}
	start := clock()
	if err := j.repeat(r.N); err != nil {
		return nil, err
	}
	return done().int("elapsed_ns", clock().Sub(start).Nanoseconds()), nil
}
