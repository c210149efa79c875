package boundary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"sealab/codecs/internal/keyring"
)

// An ID names one minted token. It is random, sealed with the state, and so
// authenticated: the encodings of a token, however many a lenient scheme
// accepts, share it.
type ID [16]byte

// A Use is the use of one token.
type Use struct {
	ID ID
	// Principal is a digest of the principal's name, zero if absent.
	Principal [16]byte
	Now       time.Time
	// Until is the time from which every server of the fleet refuses the token.
	// It is sealed in the token, so that it does not depend on the TTL of the
	// server that verifies.
	Until time.Time
}

// A Store remembers the tokens that were used. Its methods are called
// concurrently.
type Store interface {
	// Spend records a use and reports whether it is the first of its ID. The
	// record may be forgotten at u.Until. On an error the token is refused; a
	// [Cause] is logged in words.
	Spend(ctx context.Context, u Use) (first bool, err error)
}

// skew is how far the clock of a server may be from the true time. A record
// outlives its token by two of them, so that a server that is behind finds the
// record of one that is ahead.
const skew = time.Minute

// singleUseAudience ends the audience of single-use tokens, so that a server
// without a store and one with a store refuse each other's tokens, as far as the
// scheme binds the audience.
const singleUseAudience = " (single use)"

// mark begins the states of single-use tokens and no other states, so that the
// two kinds differ under a scheme that does not bind the audience.
const mark = "once1."

// number is the authenticated header of a single-use token.
type number [len(ID{}) + 8]byte

var (
	numberEncoding = base64.RawURLEncoding.Strict()
	headerSize     = len(mark) + numberEncoding.EncodedLen(len(number{})) + len(".")
)

// numbered returns the state under a fresh ID:
//
//	"once1." || base64url(id[16] || until[8]) || "." || state
//
// with until in Unix seconds, big-endian.
func numbered(state []byte, until time.Time) []byte {
	var n number
	keyring.Random(n[:len(ID{})])
	binary.BigEndian.PutUint64(n[len(ID{}):], uint64(until.Unix()))
	out := append(make([]byte, 0, headerSize+len(state)), mark...)
	out = numberEncoding.AppendEncode(out, n[:])
	return append(append(out, '.'), state...)
}

// unnumbered returns a state that is not numbered as it is.
func unnumbered(state []byte) ([]byte, error) {
	if bytes.HasPrefix(state, []byte(mark)) {
		return nil, errNumbered
	}
	return state, nil
}

// spend takes the number off an authenticated state and uses it up.
func (r *Round) spend(ctx context.Context, authentic []byte, event *Event) ([]byte, error) {
	u, state, ok := parseNumbered(authentic)
	if !ok {
		return nil, errUnnumbered
	}
	u.Now = r.context.Now
	if !u.Now.Before(u.Until) {
		return nil, errOutlived // the scheme's TTL is longer than the policy's
	}
	if r.context.Principal != nil {
		sum := sha256.Sum256([]byte(*r.context.Principal))
		copy(u.Principal[:], sum[:])
	}
	policy := &r.boundary.policy
	ctx, cancel := context.WithTimeout(ctx, policy.StoreTimeout)
	defer cancel()
	start := policy.Now()
	first, err := policy.Store.Spend(ctx, u)
	event.Store = max(policy.Now().Sub(start), 1)
	if err != nil {
		return nil, err
	}
	if !first {
		return nil, errSpent
	}
	return state, nil
}

// parseNumbered is the inverse of numbered.
func parseNumbered(authentic []byte) (u Use, state []byte, ok bool) {
	if len(authentic) < headerSize || authentic[headerSize-1] != '.' || !bytes.HasPrefix(authentic, []byte(mark)) {
		return u, nil, false
	}
	var n number
	size, err := numberEncoding.Decode(n[:], authentic[len(mark):headerSize-1])
	if err != nil || size != len(n) {
		return u, nil, false
	}
	copy(u.ID[:], n[:])
	u.Until = time.Unix(int64(binary.BigEndian.Uint64(n[len(ID{}):])), 0)
	return u, authentic[headerSize:], true
}
