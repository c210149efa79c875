package worker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// A Command is a program that speaks the protocol.
type Command struct {
	Name string   // name of the worker here; "": the name in its hello
	Args []string // the program and its arguments
	Dir  string   // working folder; "": the current one
	Env  []string // "name=value", added to the environment
}

// A process is one life of a worker.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	lines chan answerLine // closed when the output ends
	ended chan struct{}   // closed when the process is to end
	cause error           // why the output ended; read it after lines is closed
	hung  atomic.Bool
	once  sync.Once
	// reaping is held while the process is waited for or killed.
	reaping sync.Mutex
	stderr  tail
	sent    *int         // length in bytes of the longest request to the worker
	longest atomic.Int64 // the longest line, in bytes, that the output may have now
}

// An answerLine is one line of a worker.
type answerLine struct {
	text []byte
	more bool // another line came with it
}

// waitDelay bounds how long the end of a process waits for another process that
// still holds its standard error.
const waitDelay = time.Second

func start(c Command, sent *int) (*process, error) {
	if len(c.Args) == 0 {
		return nil, fmt.Errorf("worker: the command is empty")
	}
	p := &process{lines: make(chan answerLine), ended: make(chan struct{}), sent: sent}
	p.cmd = exec.Command(c.Args[0], c.Args[1:]...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = append(p.cmd.Environ(), c.Env...)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = waitDelay
	ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	go p.read()
	return p, nil
}

// read passes the lines of the output on until it ends, breaks the limit, or
// the process is to end.
func (p *process) read() {
	defer close(p.lines)
	r := bufio.NewReaderSize(p.out, 64<<10)
	for {
		text, err := readLine(r, &p.longest)
		if err != nil {
			p.cause = err
			return
		}
		select {
		case p.lines <- answerLine{text, r.Buffered() > 0}:
		case <-p.ended:
			return
		}
	}
}

// readLine returns the next line without its end, in memory of its own.
func readLine(r *bufio.Reader, longest *atomic.Int64) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if limit := longest.Load(); int64(len(text)+len(part)) > limit {
			return nil, breached(Flooded, "a line is longer than %d bytes", limit)
		}
		text = append(text, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(text[:len(text)-1], []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(text) > 0:
			return nil, quoting(text, Died, "its output ended within a line")
		default:
			return nil, breached(Died, "its output ended")
		}
	}
}

// exchange sends one request and returns the answer. Its error is a *breach,
// after which the process is of no more use.
func (p *process) exchange(request []byte, l Limits, within time.Duration) ([]byte, error) {
	defer p.deadline(l, within)()
	select {
	case line, open := <-p.lines:
		return nil, p.unasked(line.text, open)
	default:
	}
	*p.sent = max(*p.sent, len(request))
	p.longest.Store(l.answer(*p.sent))
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		return nil, p.why(breached(Died, "it reads no more requests"))
	}
	answer, open := <-p.lines
	if !open {
		return nil, p.why(p.cause)
	}
	if answer.more {
		return nil, quoting(answer.text, OutOfTurn, "it answered one request with more than one line; standard output is for answers only; the first line is")
	}
	return answer.text, nil
}

// unasked is the breach of a process that spoke, or ended, between requests.
func (p *process) unasked(text []byte, open bool) error {
	if open {
		return quoting(text, OutOfTurn, "it wrote a line before the request")
	}
	return p.why(p.cause)
}

// why returns the breach of the deadline if the deadline ended the process, else
// the given one.
func (p *process) why(other error) error {
	if p.hung.Load() {
		if b, ok := errors.AsType[*breach](other); ok && b.quote != nil {
			return quoting(b.quote, Hung, "it did not end its answer with a line end before the deadline")
		}
		return breached(Hung, "it did not answer before the deadline: want one line for each request, flushed at once")
	}
	return other
}

// deadline ends the process unless the returned function is called in time. The time
// counts in which the process works, if it can be told and the limits are patient.
func (p *process) deadline(l Limits, within time.Duration) (stop func()) {
	before, err := workOf(p.cmd.Process.Pid, false)
	if l.Patience <= 1 || err != nil {
		timer := l.AfterFunc(within, p.expire)
		return func() { timer.Stop() }
	}
	var mu sync.Mutex
	var timer Timer
	var check func()
	stopped := false
	check = func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		l.Patience--
		if now, err := workOf(p.cmd.Process.Pid, true); err == nil && now-before < within && l.Patience > 0 {
			timer = l.AfterFunc(within, check)
			return
		}
		p.expire()
	}
	mu.Lock()
	defer mu.Unlock()
	timer = l.AfterFunc(within, check)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// expire ends a process whose deadline has passed, so that reads from it and writes
// to it return.
func (p *process) expire() {
	p.hung.Store(true)
	p.kill()
}

// kill ends the process unless it has been waited for: then its number may be
// that of another.
func (p *process) kill() {
	p.reaping.Lock()
	if p.cmd.ProcessState == nil {
		killGroup(p.cmd)
	}
	p.reaping.Unlock()
	p.in.Close()
	p.out.Close()
}

// end ends the process, waits for it and for its reader, and says how it ended.
func (p *process) end() (status string) {
	p.once.Do(func() {
		close(p.ended)
		p.kill()
		for range p.lines {
			// Further output was not requested.
		}
	})
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if err := p.cmd.Wait(); err != nil {
		return err.Error()
	}
	return p.cmd.ProcessState.String()
}

// retire lets the process end by itself when its input ends, until the deadline.
func (p *process) retire(l Limits) {
	deadline := l.AfterFunc(l.Request, p.expire)
	defer deadline.Stop()
	p.in.Close()
	for range p.lines {
		// A worker writes no line after its last answer.
	}
	p.end()
}

// tailSize is the length in bytes of the part of a process's standard error that
// is shown. The slack before it is kept as well: a secret that begins there is
// found whole.
const (
	tailSize  = 4 << 10
	tailSlack = 4 << 10
)

// A tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer. It does not fail.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const kept = tailSize + tailSlack
	t.last = append(t.last, b[max(0, len(b)-kept):]...)
	t.last = append(t.last[:0], t.last[max(0, len(t.last)-kept):]...)
	return len(b), nil
}

// without returns the end of the text, without the given secrets.
func (t *tail) without(s *secrets) string {
	t.mu.Lock()
	text := string(t.last)
	t.mu.Unlock()
	text = s.redact(text)
	return text[max(0, len(text)-tailSize):]
}
