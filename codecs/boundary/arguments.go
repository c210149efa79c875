package boundary

import (
	"bytes"

	"sealab/codecs"
	"sealab/codecs/internal/rawjson"
)

// The refusals of arguments that a token cannot be bound to.
var (
	errLongArguments = codecs.Reject(codecs.Misbound, "arguments longer than the limit")
	errAmbiguous     = codecs.Reject(codecs.Misbound, "arguments that two readers may read as two values")
)

// checkArguments refuses arguments if a handler may read another value from
// their bytes than the one that the token holds a digest of. Arguments of
// prompts reach the boundary and the handler decoded.
func (r *Round) checkArguments() error {
	switch {
	case r.request.ArgumentsSize > r.boundary.policy.MaxArguments:
		return errLongArguments
	case r.request.Method != CallTool || r.arguments == nil:
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
