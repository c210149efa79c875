package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sealab/codecs"
)

// A cause is a reason of the boundary's own: a fixed text without any value
// of the request, fit for the log.
type cause string

func (c cause) Error() string { return "sealab: " + string(c) }

const (
	errComplete     = cause("a complete result carries state: to ask again, leave its content out and set its input requests")
	errUnreturnable = cause("the token is longer than the limit for tokens that come back: keep less state or raise MaxToken")
)

// The refusals that the boundary adds to the scheme's.
var (
	errTooLong    = codecs.Reject(codecs.Malformed, "longer than the limit")
	errUnnumbered = codecs.Reject(codecs.Malformed, "not a single-use token")
	errSpent      = codecs.Reject(codecs.Expired, "used before")
)

// refuse logs why a token was refused and returns what the client is told: one
// answer for every cause. The error is returned bare, for the SDK drops the
// data of a wrapped one.
func (b *boundary) refuse(ctx context.Context, method string, err error) error {
	attrs := []slog.Attr{slog.String("method", method)}
	if r := codecs.Rejected(err); r != nil {
		attrs = append(attrs, slog.String("stage", r.Stage.String()), slog.String("reason", r.Reason))
	} else {
		attrs = append(attrs, slog.String("stage", "fault"), slog.String("reason", describe(err)))
	}
	b.log.LogAttrs(ctx, slog.LevelWarn, "requestState refused", attrs...)
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: "Invalid or expired requestState",
		Data:    json.RawMessage(`{"reason":"invalid_request_state"}`),
	}
}

// fault logs why a state could not be sealed and returns what the client is
// told.
func (b *boundary) fault(ctx context.Context, method string, err error) error {
	b.log.LogAttrs(ctx, slog.LevelError, "requestState not sealed",
		slog.String("method", method), slog.String("reason", describe(err)))
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Internal error"}
}

// describe returns what may be logged of an error: the boundary's own causes
// in words, all others by their types alone, because the text of a callback's
// error may hold anything.
func describe(err error) string {
	var c cause
	if errors.As(err, &c) {
		return string(c)
	}
	if errors.Is(err, codecs.ErrUnsupported) {
		return "the scheme cannot carry this state"
	}
	kinds := fmt.Sprintf("%T", err)
	for err = errors.Unwrap(err); err != nil; err = errors.Unwrap(err) {
		kinds += fmt.Sprintf(": %T", err)
	}
	return kinds
}

// guard calls f, which runs code that the boundary did not write, and turns a
// panic into an error. The value of the panic is not kept: it may be secret.
func guard[T any](f func() (T, error)) (t T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = cause(fmt.Sprintf("panic with a value of type %T", v))
		}
	}()
	return f()
}
