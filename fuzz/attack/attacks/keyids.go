package attacks

import (
	"sealab/codecs"
	"sealab/fuzz/attack"
)

// collidingIDs searches for two secrets whose tokens have the same head, opens a ring of both
// and presents tokens of each.
func (t trial) collidingIDs() {
	seen := map[string][]byte{}
	for _, n := range t.Range(300) {
		if t.Spent() {
			return
		}
		secret := t.Secret(100 + n)
		in, err := t.Open(secret)
		if err != nil {
			t.Skip("the design does not open under random secrets of 32 bytes")
			return
		}
		id, ok := t.constantHead(in)
		if !ok {
			t.Skip("no key ID shows at the start of the bytes of a token")
			return
		}
		if other, ok := seen[id]; ok {
			t.collide(other, secret)
			return
		}
		seen[id] = secret
	}
	t.Try(codecs.Rotation, codecs.StrongKeys)
}

// constantHead returns the leading bytes that all tokens of an instance share, if there are at
// most 16.
func (t trial) constantHead(in *attack.Instance) (string, bool) {
	tok, ok := t.Mint(in, t.State(24))
	if !ok {
		return "", false
	}
	segment, n, ok := t.HeadOf(in, tok)
	if !ok || n > 16 {
		return "", false
	}
	return string(tok.Format().Segments[segment].Bytes[:n]), true
}

// start returns the bytes of the first decoded segment of a token of an instance.
func (t trial) start(in *attack.Instance) []byte {
	tok, ok := t.Mint(in, t.State(24))
	if !ok || len(tok.Format().Encoded()) == 0 {
		return nil
	}
	return tok.Format().Segments[tok.Format().Encoded()[0]].Bytes
}

func (t trial) collide(a, b []byte) {
	if _, err := t.Open(a, b); err != nil {
		t.Try(codecs.Rotation, codecs.StrongKeys) // the ring refuses the collision, or takes only one key
		return
	}
	for _, key := range [][]byte{a, b} {
		in, err := t.Open(key)
		if err != nil {
			return
		}
		t.opensUnder(in, [][]byte{a, b}, true, "two keys of a ring have one key ID, and the tokens of one are refused")
		t.opensUnder(in, [][]byte{b, a}, true, "two keys of a ring have one key ID, and the tokens of one are refused")
	}
	t.Try(codecs.StrongKeys)
}
