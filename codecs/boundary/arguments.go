package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sealab/codecs"
	"sealab/codecs/internal/rawjson"
)

// The refusals of arguments that a token cannot be bound to.
var (
	errLongArguments = codecs.Reject(codecs.Misbound, "arguments longer than the limit")
	errAmbiguous     = codecs.Reject(codecs.Misbound, "arguments that two readers may read as two values")
)

// unbindable reports whether an error refuses the arguments of a request.
func unbindable(err error) bool {
	return errors.Is(err, errLongArguments) || errors.Is(err, errAmbiguous)
}

// checkArguments refuses arguments that are not bound by what a handler reads
// of them: the handler gets the bytes, the token holds a digest of their value.
// Arguments of prompts reach the boundary and the handler decoded.
func (b *boundary) checkArguments(r round) error {
	switch {
	case r.tooLong:
		return errLongArguments
	case r.method != callTool || r.arguments == nil:
		return nil
	case !isObject(r.arguments) || rawjson.CheckExact(r.arguments) != nil:
		return errAmbiguous
	}
	return nil
}

// isObject reports whether arguments are an object, or null. Every other value
// that Python takes for false has the digest of {}.
func isObject(arguments []byte) bool {
	text := bytes.TrimLeft(arguments, " \t\r\n")
	return bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("null"))
}

// refuseArguments logs why a state could not be bound to the arguments of its
// request and returns the answer to the client, who can send others.
func (b *boundary) refuseArguments(ctx context.Context, method string, err error) error {
	b.log.LogAttrs(ctx, slog.LevelWarn, "arguments refused",
		slog.String("method", method), slog.String("reason", codecs.Rejected(err).Reason))
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: "Invalid arguments: want at most the size that this server takes, each name once in any case, UTF-8 text, and numbers that a float64 holds",
		Data:    json.RawMessage(`{"reason":"invalid_arguments"}`),
	}
}
