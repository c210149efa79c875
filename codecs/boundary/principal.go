package boundary

import (
	"context"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
)

// A PrincipalFunc names who sent a request. nil stands for somebody
// unauthenticated, which differs from an empty name. An error refuses the
// token, or answers an internal error where the state was to be sealed.
type PrincipalFunc func(context.Context, mcp.Request) (*string, error)

// TokenPrincipal is the default PrincipalFunc: whom the bearer token stands
// for, as the SDK's TokenInfo says, spelled as the Python SDK spells it,
//
//	["client id","issuer","subject"]
//
// with the client from Extra["client_id"], the issuer from Extra["iss"] and the
// subject from UserID or, if that is empty, Extra["sub"]; null stands for an
// absent one. A client, issuer or subject that is not a string, and a name that
// is not UTF-8, is an error. Transports differ:
//
//   - streamable HTTP: the token of each request
//   - SSE: the token of the GET that opened the session, which the SDK keeps in
//     the context; it does not compare the tokens of the POSTs that follow
//   - stdio and in memory: no token, and no principal
//
// If the verifier names no subject, all users of one client are one principal,
// and if it names nobody at all, all authenticated users are. The boundary logs a
// warning for the first such token; Policy.RequirePrincipal refuses them.
func TokenPrincipal(ctx context.Context, req mcp.Request) (*string, error) {
	var info *auth.TokenInfo
	if extra := req.GetExtra(); extra != nil {
		info = extra.TokenInfo
	}
	if info == nil {
		info = auth.TokenInfoFromContext(ctx)
	}
	if info == nil {
		return nil, nil
	}
	client, err := claim(info.Extra, "client_id")
	if err != nil {
		return nil, err
	}
	issuer, err := claim(info.Extra, "iss")
	if err != nil {
		return nil, err
	}
	subject, err := claim(info.Extra, "sub")
	if err != nil {
		return nil, err
	}
	if info.UserID != "" {
		subject = &info.UserID
	} else if subject != nil && *subject == "" {
		subject = nil
	}
	return triple(client, issuer, subject)
}

// unnamed is the principal of a bearer token that names nobody.
const unnamed = "[null,null,null]"

// errNobody refuses requests without a principal.
var errNobody = codecs.Reject(codecs.Misbound, "no principal")

// checkPrincipal refuses a request without a principal if the policy requires
// one. It warns of the first token for no principal, and of the first for one
// without a name.
func (b *boundary) checkPrincipal(ctx context.Context, principal *string) error {
	var kind int
	var text string
	switch {
	case principal == nil:
		kind, text = 0, "requestState without a principal: whoever holds such a token may use it"
	case *principal == unnamed:
		kind, text = 1, "bearer tokens that name no client, issuer or subject: all users are one principal"
	default:
		return nil
	}
	level := slog.LevelWarn
	if principal == nil && !b.requirePrincipal {
		level = slog.LevelInfo // as on every server over stdio
	}
	b.warned[kind].Do(func() { b.log.Log(ctx, level, text, "refused", b.requirePrincipal) })
	if b.requirePrincipal {
		return errNobody
	}
	return nil
}

// claim returns a string of a token's extra claims, nil where it is absent.
func claim(extra map[string]any, name string) (*string, error) {
	switch v := extra[name].(type) {
	case nil:
		return nil, nil
	case string:
		return &v, nil
	default:
		return nil, cause(fmt.Sprintf("the claim %s of the token is a %T, want a string", name, v))
	}
}

// triple returns the array of the parts in compact JSON, null for nil. A part
// that is not UTF-8 is an error: the spelling could not keep it apart from
// others.
func triple(parts ...*string) (*string, error) {
	array := []byte{'['}
	for i, part := range parts {
		if i > 0 {
			array = append(array, ',')
		}
		switch {
		case part == nil:
			array = append(array, "null"...)
		case utf8.ValidString(*part):
			array = compactjson.AppendText(array, *part)
		default:
			return nil, cause("the token names its client, issuer or subject in bytes that are not UTF-8")
		}
	}
	text := string(append(array, ']'))
	return &text, nil
}
