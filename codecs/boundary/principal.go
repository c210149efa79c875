package boundary

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/envelope/compactjson"
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
// subject from UserID, null for what is absent. Requests without TokenInfo are
// unauthenticated. A client or issuer that is not a string, and a name that is
// not UTF-8, is an error.
//
// Where the verifier supplies no UserID, two users of one client are one
// principal, and where it supplies nothing, all authenticated users are: give a
// PrincipalFunc of your own there.
func TokenPrincipal(_ context.Context, req mcp.Request) (*string, error) {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil, nil
	}
	info := extra.TokenInfo
	client, err := claim(info.Extra, "client_id")
	if err != nil {
		return nil, err
	}
	issuer, err := claim(info.Extra, "iss")
	if err != nil {
		return nil, err
	}
	var subject *string
	if info.UserID != "" {
		subject = &info.UserID
	}
	return triple(client, issuer, subject)
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
