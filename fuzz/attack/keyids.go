package attack

import "sealab/codecs"

// collidingIDs looks for two secrets whose tokens begin alike, opens a ring of
// both and asks for the tokens of each.
func collidingIDs(t *Trial) {
	seen := map[string][]byte{}
	for _, n := range t.sweep(300) {
		if t.spent() {
			return
		}
		secret := t.secret(100 + n)
		p, err := t.party(secret)
		if err != nil {
			t.skip("the subject does not open under random secrets of 32 bytes")
			return
		}
		id, ok := t.constantHead(p)
		if !ok {
			t.skip("no key id shows at the start of the token's bytes")
			return
		}
		if other, ok := seen[id]; ok {
			t.collide(other, secret)
			return
		}
		seen[id] = secret
	}
	t.try(codecs.Rotation, codecs.StrongKeys)
}

// constantHead is what the tokens of one party have in common at the start.
func (t *Trial) constantHead(p *Party) (string, bool) {
	var head []byte
	for i := range 3 {
		tok, ok := t.mint(p, t.state(24))
		if !ok {
			return "", false
		}
		raw := tok.raws()
		if i == 0 {
			head = raw
		}
		for k := range head {
			if k >= len(raw) || raw[k] != head[k] {
				head = head[:k]
				break
			}
		}
	}
	return string(head), len(head) > 0 && len(head) <= 16
}

func (t *Trial) collide(a, b []byte) {
	if _, err := t.party(a, b); err != nil {
		t.try(codecs.Rotation, codecs.StrongKeys) // found and refused, or a ring of one
		return
	}
	for _, key := range [][]byte{a, b} {
		p, err := t.party(key)
		if err != nil {
			return
		}
		t.opensUnder(p, [][]byte{a, b}, true, "two keys of a ring have one key id, and the tokens of one are refused")
		t.opensUnder(p, [][]byte{b, a}, true, "two keys of a ring have one key id, and the tokens of one are refused")
	}
	t.try(codecs.StrongKeys)
}
