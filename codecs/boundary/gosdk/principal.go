package gosdk

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
)

// A PrincipalFunc returns the principal of a request, or nil if the request is
// unauthenticated, which differs from an empty name. If it fails, a token is
// refused; for a state to be sealed it is an internal error.
type PrincipalFunc func(context.Context, mcp.Request) (*string, error)

// TokenPrincipal is the default PrincipalFunc: the owner of the bearer token in
// the SDK's TokenInfo, written as the Python SDK writes it,
//
//	["client id","issuer","subject"]
//
// The client is Extra["client_id"] and the issuer is Extra["iss"]. The subject
// is UserID or, if that is empty, Extra["sub"]. An absent one is null. A
// client, issuer or subject that is not a string, or not UTF-8, is an error.
// Transports differ:
//
//   - streamable HTTP: the token of each request
//   - SSE: the token of the GET that opened the session. The SDK keeps it in the
//     context and does not compare the tokens of the POSTs that follow.
//   - stdio and in memory: no token, and so no principal
//
// If the token verifier names no subject, all users of a client are one
// principal. If it names no client, issuer or subject, all authenticated users
// are one principal. The boundary logs a warning for the first such token. It
// refuses them if Policy.RequirePrincipal is set.
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
	var owner [3]*string
	for i, name := range []string{"client_id", "iss", "sub"} {
		var err error
		if owner[i], err = claim(info.Extra, name); err != nil {
			return nil, err
		}
	}
	client, issuer, subject := owner[0], owner[1], owner[2]
	if info.UserID != "" {
		subject = &info.UserID
	} else if subject != nil && *subject == "" {
		subject = nil
	}
	return boundary.Principal(client, issuer, subject)
}

// claim returns a string from a token's extra claims, or nil if it is absent.
func claim(extra map[string]any, name string) (*string, error) {
	switch v := extra[name].(type) {
	case nil:
		return nil, nil
	case string:
		return &v, nil
	default:
		return nil, boundary.Cause(fmt.Sprintf("the claim %s of the token is a %T, want a string", name, v))
	}
}
