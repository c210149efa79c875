package boundary

import (
	"bytes"
	"context"
	"encoding/base64"
	"time"

	"sealab/codecs/internal/keyring"
)

// An ID names one minted token. It is random, sealed with the state, and so
// authenticated: the spellings of a token, however many a lenient scheme
// accepts, share it.
type ID [16]byte

// A Store remembers which tokens were used. Its methods are called
// concurrently.
type Store interface {
	// Spend records the use of a token at now and reports whether it is the
	// first. The record may be forgotten after until, when the token has
	// expired. On an error the token is refused.
	Spend(ctx context.Context, id ID, now, until time.Time) (first bool, err error)
}

// skew is how far beyond its lifetime a token is remembered: a minute, which is
// how far into the future a clock of the fleet may be ahead of this one.
const skew = time.Minute

// idSize is the length of an ID as it stands before the state.
var idSize = base64.RawURLEncoding.EncodedLen(len(ID{}))

// numbered returns the state under a fresh ID:
//
//	base64url(id[16]) || "." || state
func numbered(state []byte) []byte {
	var id ID
	keyring.Random(id[:])
	out := base64.RawURLEncoding.AppendEncode(make([]byte, 0, idSize+1+len(state)), id[:])
	return append(append(out, '.'), state...)
}

// spend takes the ID off an authenticated state and uses it up.
func (b *boundary) spend(ctx context.Context, authentic []byte, now time.Time) ([]byte, error) {
	text, state, found := bytes.Cut(authentic, []byte("."))
	var id ID
	if !found || len(text) != idSize {
		return nil, errUnnumbered
	}
	if _, err := base64.RawURLEncoding.Strict().Decode(id[:], text); err != nil {
		return nil, errUnnumbered
	}
	first, err := b.store.Spend(ctx, id, now, now.Add(b.ttl+skew))
	if err != nil {
		return nil, err
	}
	if !first {
		return nil, errSpent
	}
	return state, nil
}
