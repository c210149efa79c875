package gosdk

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
)

// A PrincipalFunc names the principal of a request. nil stands for an
// unauthenticated one, which differs from an empty name. An error refuses the
// token, or is an internal error if the state was to be sealed.
type PrincipalFunc func(context.Context, mcp.Request) (*string, error)

// TokenPrincipal is the default PrincipalFunc: the owner of the bearer token in
// the SDK's TokenInfo, written as the Python SDK writes it,
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
// If the verifier names no subject, all users of one client are one principal. If
// it names no client, issuer or subject, all authenticated users are: the boundary
// logs a warning for the first such token, and refuses it if
// Policy.RequirePrincipal is set.
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

// claim returns a string of a token's extra claims, nil if it is absent.
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
