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
	Name string   // overrides the name in the worker's hello unless ""
	Args []string // the program and its arguments
	Dir  string   // working folder; "": the current one
	Env  []string // "name=value", added to the environment
}

// A process is one run of a worker.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	lines chan answerLine // closed when the output ends
	ended chan struct{}   // closed when the process is to be killed
	cause error           // why the output ended; valid after lines is closed
	hung  atomic.Bool
	once  sync.Once
	// reaping is held while the process is waited for or killed.
	reaping sync.Mutex
	stderr  tailBuffer
	sent    *int         // length in bytes of the longest request to the worker
	longest atomic.Int64 // current maximum length of an output line, in bytes
}

// An answerLine is a line that the worker wrote.
type answerLine struct {
	text []byte
	more bool // another line was already buffered
}

// waitDelay bounds the wait for another process that keeps the standard error
// of an exited worker open.
const waitDelay = time.Second

func startProcess(c Command, sent *int) (*process, error) {
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

// read sends the lines of the output to p.lines until the output ends, a line
// is too long, or the process is to be killed.
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

// readLine returns the next line without its line end, in newly allocated
// memory.
func readLine(r *bufio.Reader, longest *atomic.Int64) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if limit := longest.Load(); int64(len(text)+len(part)) > limit {
			return nil, newBreach(Flooded, "a line is longer than %d bytes", limit)
		}
		text = append(text, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(text[:len(text)-1], []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(text) > 0:
			return nil, newQuotedBreach(text, Died, "its output ended within a line")
		default:
			return nil, newBreach(Died, "its output ended")
		}
	}
}

// exchange sends one request and returns the answer. If it fails, the error is
// a *breach and the process must not be used again.
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
		return nil, p.why(newBreach(Died, "it reads no more requests"))
	}
	answer, open := <-p.lines
	if !open {
		return nil, p.why(p.cause)
	}
	if answer.more {
		return nil, newQuotedBreach(answer.text, OutOfTurn, "it answered one request with more than one line; standard output is for answers only; the first line is")
	}
	return answer.text, nil
}

// unasked returns the breach of a process that wrote or exited between
// requests.
func (p *process) unasked(text []byte, open bool) error {
	if open {
		return newQuotedBreach(text, OutOfTurn, "it wrote a line before the request")
	}
	return p.why(p.cause)
}

// why returns the breach for a missed deadline if that ended the process, else
// other.
func (p *process) why(other error) error {
	if p.hung.Load() {
		if b, ok := errors.AsType[*breach](other); ok && b.quote != nil {
			return newQuotedBreach(b.quote, Hung, "it did not end its answer with a line end before the deadline")
		}
		return newBreach(Hung, "it did not answer before the deadline: want one line for each request, flushed at once")
	}
	return other
}

// deadline kills the process unless stop is called in time. If Patience is over
// 1 and the system reports processor time, a process that has worked for less
// than within gets up to Patience times within.
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

// expire kills a process whose deadline has passed, which unblocks reads and
// writes.
func (p *process) expire() {
	p.hung.Store(true)
	p.kill()
}

// kill kills the process. It does not if the process has been waited for,
// because its ID may have been reused.
func (p *process) kill() {
	p.reaping.Lock()
	if p.cmd.ProcessState == nil {
		killGroup(p.cmd)
	}
	p.reaping.Unlock()
	p.in.Close()
	p.out.Close()
}

// end kills the process, waits for it and its reader, and returns its exit
// status.
func (p *process) end() (status string) {
	p.once.Do(func() {
		close(p.ended)
		p.kill()
		for range p.lines {
			// Discard further output.
		}
	})
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if err := p.cmd.Wait(); err != nil {
		return err.Error()
	}
	return p.cmd.ProcessState.String()
}

// retire closes the input of the process, and waits until the process exits or
// the deadline passes.
func (p *process) retire(l Limits) {
	deadline := l.AfterFunc(l.Request, p.expire)
	defer deadline.Stop()
	p.in.Close()
	for range p.lines {
		// Discard further output.
	}
	p.end()
}

// tailSize is the number of bytes of standard error that are shown. tailSlack
// bytes before them are kept too, so that a secret that crosses the boundary is
// redacted.
const (
	tailSize  = 4 << 10
	tailSlack = 4 << 10
)

// A tailBuffer keeps the last bytes that are written to it.
type tailBuffer struct {
	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer. It always succeeds.
func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const kept = tailSize + tailSlack
	t.last = append(t.last, b[max(0, len(b)-kept):]...)
	t.last = append(t.last[:0], t.last[max(0, len(t.last)-kept):]...)
	return len(b), nil
}

// without returns the end of the text with the secrets redacted.
func (t *tailBuffer) without(s *secrets) string {
	t.mu.Lock()
	text := string(t.last)
	t.mu.Unlock()
	text = s.redact(text)
	return text[max(0, len(text)-tailSize):]
}
