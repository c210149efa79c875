package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// The refusals of arguments that a token cannot be bound to.
var (
	errLongArguments = codecs.Reject(codecs.Misbound, "arguments longer than the limit")
	errAmbiguous     = codecs.Reject(codecs.Misbound, "arguments that two readers may read as two values")
)

// checkArguments refuses arguments if a handler may parse their bytes as
// another value than the digest in the token covers. It checks tools only:
// arguments of prompts reach both the boundary and the handler decoded.
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

// isObject reports whether arguments are an object.
func isObject(arguments []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(arguments, jsonSpace), []byte("{"))
}

const jsonSpace = " \t\r\n"

// nonEmptyArguments returns arguments, or nil if they are null or an empty
// object. SDKs treat the three alike.
func nonEmptyArguments(arguments json.RawMessage) json.RawMessage {
	text := bytes.Trim(arguments, jsonSpace)
	if string(text) == "null" {
		return nil
	}
	if inside, ok := bytes.CutPrefix(text, []byte("{")); ok && string(bytes.TrimLeft(inside, jsonSpace)) == "}" {
		return nil
	}
	return arguments
}

// unnamedPrincipals holds the principals of bearer tokens without a name: each
// part is null or empty.
var unnamedPrincipals = func() map[string]bool {
	all, parts := map[string]bool{}, []string{"null", `""`}
	for _, client := range parts {
		for _, issuer := range parts {
			for _, subject := range parts {
				all["["+client+","+issuer+","+subject+"]"] = true
			}
		}
	}
	return all
}()

// Principal returns the name of a principal as the Python SDK writes it: a JSON
// array of client, issuer and subject without white space, with null for nil. A
// part that is not UTF-8 is an error, because two such parts could give the
// same name.
func Principal(client, issuer, subject *string) (*string, error) {
	array := append(make([]byte, 0, 256), '[') // large enough for most
	for i, part := range []*string{client, issuer, subject} {
		if i > 0 {
			array = append(array, ',')
		}
		switch {
		case part == nil:
			array = append(array, "null"...)
		case utf8.ValidString(*part):
			array, _ = compactjson.AppendText(array, *part)
		default:
			return nil, Cause("the token names its client, issuer or subject in bytes that are not UTF-8")
		}
	}
	return new(string(append(array, ']'))), nil
}

// errNobody refuses requests without a principal.
var errNobody = codecs.Reject(codecs.Misbound, "no principal")

// checkPrincipal refuses a request without a principal if the policy requires
// one. It logs the first request without a principal, and the first whose
// principal has no name.
func (b *Boundary) checkPrincipal(ctx context.Context, principal *string) error {
	required := b.policy.RequirePrincipal
	var kind int
	var text string
	level := slog.LevelWarn
	switch {
	case principal == nil:
		kind, text = 0, "requestState without a principal: whoever holds such a token may use it"
		if !required {
			level = slog.LevelInfo // normal for a server over stdio
		}
	case unnamedPrincipals[*principal]:
		kind, text = 1, "bearer tokens that name no client, issuer or subject: all users are one principal"
	default:
		return nil
	}
	b.warned[kind].Do(func() { b.policy.Logger.Log(ctx, level, text, "refused", required) })
	if required {
		return errNobody
	}
	return nil
}
