package rawmcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"sealab/internal/command"
)

// A Process is a server on standard input and output. One goroutine reads its lines. Exchanges must
// not overlap.
type Process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte // closed at the end of standard output
	limits Limits
	stderr *safeRecorder
	ended  chan struct{} // closed when the process has ended
	state  error         // the result of Wait, once ended is closed
	// answered is set after the first exchange with a message.
	answered bool
	open     []byte // lines of an incomplete message

	mu      sync.Mutex
	output  recorder // the first bytes of standard output
	readErr error
}

// maxStderr is the number of bytes of standard error that are kept.
const maxStderr = 1 << 20

// Start starts a server. The words are its program and arguments; no shell interprets them.
func Start(words []string, limits Limits) (*Process, error) {
	if len(words) == 0 {
		return nil, errors.New("the command is empty: want a program and its arguments")
	}
	limits = limits.orDefault()
	p := &Process{
		cmd: exec.Command(words[0], words[1:]...), lines: make(chan []byte, 16), limits: limits,
		ended: make(chan struct{}), stderr: &safeRecorder{recorder: recorder{limit: maxStderr}}, output: recorder{limit: limits.Bytes},
	}
	p.cmd.SysProcAttr = command.TiedChild()
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = time.Second
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", words[0], err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", words[0], err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %q: %w", words[0], err)
	}
	p.in = in
	go p.read(out)
	return p, nil
}

// read passes on the lines of standard output until it ends or is too large. Then it waits for the
// process.
func (p *Process) read(out io.Reader) {
	err := p.readLines(out)
	p.mu.Lock()
	p.readErr = err
	p.mu.Unlock()
	close(p.lines)
	if err != nil {
		p.kill()
	}
	p.state = p.cmd.Wait()
	close(p.ended)
}

func (p *Process) readLines(out io.Reader) error {
	in := bufio.NewReader(out)
	for n := int64(0); ; {
		line, err := readLine(in, p.limits.Bytes)
		n += int64(len(line))
		if len(line) > 0 {
			p.mu.Lock()
			p.output.Write(line)
			p.mu.Unlock()
			p.lines <- bytes.TrimRight(line, "\r\n")
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n > 8*p.limits.Bytes:
			return errTooLarge
		}
	}
}

// readLine returns the next line with its line feed. It returns errTooLarge if the line exceeds
// limit bytes.
func readLine(r *bufio.Reader, limit int64) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > limit {
			return line, errTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Do writes a line, followed by a line feed, and reads lines until done reports that one is the
// answer. If done is nil, Do does not read.
func (p *Process) Do(ctx context.Context, line []byte, done func(message []byte) bool) *Exchange {
	began := time.Now()
	e := &Exchange{Sent: append(bytes.Clone(line), '\n')}
	defer func() { e.Took = time.Since(began) }()
	limit := p.limits.Time
	if !p.answered && p.limits.Start > 0 {
		limit = p.limits.Start
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.write(ctx, e.Sent); err != nil {
		e.Err = err
		return e
	}
	if done == nil {
		return e
	}
	e.Err = p.await(ctx, e, done)
	p.answered = p.answered || len(e.Messages) > 0
	e.Received = bytes.Join(e.Messages, []byte("\n"))
	e.Body = e.Received
	return e
}

// Part writes the beginning of a line.
func (p *Process) Part(ctx context.Context, b []byte) error { return p.write(ctx, b) }

// Await reads lines as [Process.Do] does, without writing.
func (p *Process) Await(ctx context.Context, done func(message []byte) bool) *Exchange {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Time)
	defer cancel()
	e := &Exchange{}
	e.Err = p.await(ctx, e, done)
	e.Received = bytes.Join(e.Messages, []byte("\n"))
	e.Body = e.Received
	return e
}

// write writes to the process. It kills a process that does not read in time.
func (p *Process) write(ctx context.Context, b []byte) error {
	written := make(chan error, 1)
	go func() {
		_, err := p.in.Write(b)
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			return fmt.Errorf("writing to the server: %w", err)
		}
		return nil
	case <-ctx.Done():
		p.kill() // the write is stuck, so the process is of no further use
		return fmt.Errorf("writing to the server: %w", ctx.Err())
	}
}

func (p *Process) await(ctx context.Context, e *Exchange, done func([]byte) bool) error {
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				e.Closed = true
				return p.endError()
			}
			message := p.whole(line)
			if message == nil {
				continue
			}
			e.Messages = append(e.Messages, message)
			if done(message) {
				return nil
			}
			if len(e.Messages) >= p.limits.Events {
				return errEvents
			}
		case <-ctx.Done():
			return fmt.Errorf("waiting for a line: %w", ctx.Err())
		}
	}
}

// whole returns the message that a line completes, or nil if more lines belong to it. A message
// should have one line, but whole also joins messages that are split, up to a line that is itself a
// message.
func (p *Process) whole(line []byte) []byte {
	line = Mended(line)
	if begins := len(line) > 0 && line[0] == '{'; len(p.open) == 0 && !begins || begins && json.Valid(line) {
		p.open = nil
		return line
	}
	p.open = append(append(p.open, line...), '\n')
	for _, end := range []string{"\n", ""} { // the line break may be inside a string
		if message := Mended(bytes.TrimSpace(bytes.ReplaceAll(p.open, []byte("\n"), []byte(end)))); json.Valid(message) {
			p.open = nil
			return message
		}
	}
	if int64(len(p.open)) > p.limits.Bytes {
		p.open = nil
	}
	return nil
}

// endError returns the reason why standard output ended.
func (p *Process) endError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readErr != nil {
		return p.readErr
	}
	return errors.New("the server closed its standard output")
}

// Alive reports whether the process is running.
func (p *Process) Alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State waits for the process to end and returns its error, or nil for exit status 0.
func (p *Process) State() error {
	<-p.ended
	return p.state
}

// Terminate sends SIGTERM to the process.
func (p *Process) Terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

// Output returns the first bytes of standard output.
func (p *Process) Output() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.output.Bytes())
}

// Stderr returns the first bytes of standard error.
func (p *Process) Stderr() []byte { return p.stderr.bytes() }

// Stop closes the input of the process and kills its group after the grace period. It reports
// whether the process ended by itself.
func (p *Process) Stop(grace time.Duration) bool {
	p.in.Close()
	go func() { // unread lines must not block its exit
		for range p.lines { //nolint:revive // drained on purpose
		}
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
		p.kill() // kill children that it left behind
		return true
	case <-timer.C:
		p.kill()
		<-p.ended
		return false
	}
}

// kill kills the process group.
func (p *Process) kill() {
	_ = command.KillGroup(p.cmd.Process) // the process may have ended
}

// safeRecorder is a recorder that is safe for concurrent use.
type safeRecorder struct {
	mu sync.Mutex
	recorder
}

func (r *safeRecorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recorder.Write(p)
}

func (r *safeRecorder) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.recorder.Bytes())
}
