package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sealab/codecs"
)

// An Answer is a JSON-RPC error for the client. Adapters turn it into the error
// type of their SDK.
type Answer struct {
	Code    int
	Message string
	Data    json.RawMessage // nil if absent
}

func (a *Answer) Error() string { return a.Message }

// The answers to clients. Every refused token gets the same one.
var (
	answerRefused = &Answer{-32602, "Invalid or expired requestState", json.RawMessage(`{"reason":"invalid_request_state"}`)}
	// answerUnbindable answers a request without a token whose result carries
	// state.
	answerUnbindable = &Answer{-32602, "Invalid arguments: want each name once in any case, UTF-8 text, numbers that a float64 holds, and a size that this server takes",
		json.RawMessage(`{"reason":"invalid_arguments"}`)}
	answerInternal = &Answer{-32603, "Internal error", nil}
)

// A Cause is an error whose text may be logged: a fixed text without any value
// of a request. The text of other errors is not logged.
type Cause string

func (c Cause) Error() string { return string(c) }

// The causes that stores and adapters share with the boundary.
const (
	// ErrComplete reports that a handler's result ends the call but carries
	// state.
	ErrComplete = Cause("a complete result carries state: to ask again, leave its content out and set its input requests")
	// ErrFull is the error of a [Store] that has reached its maximum number of
	// records.
	ErrFull = Cause("the store of used tokens is full")
	// ErrQuota is the error of a [Store] for a principal with too many records.
	ErrQuota = Cause("the principal has used as many tokens as it may within their lifetime")
	// ErrClock is the error of a [Store] whose clock differs too much from the
	// server's.
	ErrClock = Cause("the clocks of the server and of the store of used tokens differ")

	errUnreturnable = Cause("the token is longer than the limit for tokens that come back: keep less state or raise MaxToken")
	errReserved     = Cause("the state begins as the states of single-use tokens do")
)

// The refusals that the boundary adds to those of the scheme.
var (
	errTooLong           = codecs.Reject(codecs.Malformed, "longer than the limit")
	errNoSingleUseHeader = codecs.Reject(codecs.Malformed, "not a single-use token")
	errSingleUseState    = codecs.Reject(codecs.Malformed, "a single-use token without a store")
	errSpent             = codecs.Reject(codecs.Expired, "used before")
	errOutlived          = codecs.Reject(codecs.Expired, "older than its record in the store")
)

// refuse logs the cause of a refused token and returns the answer, which is the
// same for every cause.
func (b *Boundary) refuse(ctx context.Context, method string, err error) error {
	stage, reason := "fault", loggableText(err)
	if r := codecs.Rejected(err); r != nil {
		stage, reason = r.Stage.String(), b.reason(r)
	}
	b.log.add(ctx, b.policy.Now(), slog.LevelWarn, stage, "requestState refused",
		[]slog.Attr{slog.String("method", method), slog.String("stage", stage), slog.String("reason", reason)})
	return answerRefused
}

// reason returns the text of a refusal to log. Refusals of a scheme or design
// from outside this module may carry untrusted text, so their reasons are
// replaced.
func (b *Boundary) reason(r *codecs.RejectError) string {
	if b.policy.trusted() {
		return r.Reason
	}
	switch r {
	case errTooLong, errNoSingleUseHeader, errSingleUseState, errSpent, errOutlived, errLongArguments, errAmbiguous, errNobody:
		return r.Reason
	}
	return "the scheme's own"
}

// sealFailed logs why a state was not sealed and returns the answer.
func (b *Boundary) sealFailed(ctx context.Context, method string, err error) error {
	if errors.Is(err, errLongArguments) || errors.Is(err, errAmbiguous) {
		b.log.add(ctx, b.policy.Now(), slog.LevelWarn, "arguments", "arguments refused",
			[]slog.Attr{slog.String("method", method), slog.String("reason", codecs.Rejected(err).Reason)})
		return answerUnbindable
	}
	return b.Fault(ctx, method, err)
}

// Fault logs a fault of the server and returns the answer.
func (b *Boundary) Fault(ctx context.Context, method string, err error) error {
	b.log.add(ctx, b.policy.Now(), slog.LevelError, "unsealed", "requestState not sealed",
		[]slog.Attr{slog.String("method", method), slog.String("reason", loggableText(err))})
	return answerInternal
}

// loggableText returns the part of an error that may be logged: the text of a
// Cause, and only the types of other errors. The text of a callback's error may
// hold secrets.
func loggableText(err error) string {
	if c, ok := errors.AsType[Cause](err); ok {
		return string(c)
	}
	if r := codecs.Rejected(err); r == errNobody {
		return r.Reason
	}
	if errors.Is(err, codecs.ErrUnsupported) {
		return "the scheme cannot carry this state"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	kinds := fmt.Sprintf("%T", err)
	for err = errors.Unwrap(err); err != nil; err = errors.Unwrap(err) {
		kinds += fmt.Sprintf(": %T", err)
	}
	return kinds
}

// recoverPanic calls f, which runs code of the caller, and turns a panic into
// an error. It drops the value of the panic, which may be secret.
func recoverPanic[T any](f func() (T, error)) (t T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Cause(fmt.Sprintf("panic with a value of type %T", v))
		}
	}()
	return f()
}

// LogsPerMinute is the maximum number of lines that a boundary logs per cause
// and minute. The next line after a pause carries the number of omitted lines.
const LogsPerMinute = 20

// A limitedLog bounds the number of log lines that refused tokens can cause.
type limitedLog struct {
	*slog.Logger
	mu      sync.Mutex
	minutes map[string]*causeCount // by cause; there are about ten causes
}

// A causeCount counts the log lines of one cause within a minute.
type causeCount struct {
	start          time.Time
	lines, omitted int
}

func (l *limitedLog) add(ctx context.Context, now time.Time, level slog.Level, cause, text string, attrs []slog.Attr) {
	omitted, ok := l.admit(now, cause)
	if !ok {
		return
	}
	if omitted > 0 {
		attrs = append(attrs, slog.Int("omitted", omitted))
	}
	l.LogAttrs(ctx, level, text, attrs...)
}

// admit reports whether a line of a cause may be logged, and the number of
// lines omitted before it.
func (l *limitedLog) admit(now time.Time, cause string) (omitted int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.minutes[cause]
	if m == nil {
		m = &causeCount{start: now}
		if l.minutes == nil {
			l.minutes = map[string]*causeCount{}
		}
		l.minutes[cause] = m
	}
	if age := now.Sub(m.start); age < 0 || age >= time.Minute {
		omitted = m.omitted
		*m = causeCount{start: now}
	}
	if m.lines == LogsPerMinute {
		m.omitted++
		return 0, false
	}
	m.lines++
	return omitted, true
}
