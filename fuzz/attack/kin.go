package attack

import "bytes"

// kin is how many tokens a token is seen beside.
const kin = 3

// kinKeys is the number of the first key that seals kin and nothing else.
const kinKeys = 900

// kinOf returns tokens by which the shape of tok is told: of one token alone
// nobody can tell whether it begins with a word or with random letters that look
// like one, nor whether a short piece is in a poorer code by chance. Each is
// sealed under another key, as a key's id is no chance either, and has another
// length. They are sealed once for all tokens that are cut into as many pieces,
// and draw nothing from the seed, so that an attack is the same without them.
func (t *Trial) kinOf(tok *Token) [][]byte {
	n := len(pieces(string(tok.Text)))
	if all, ok := t.Subject.kin[n]; ok {
		return all
	}
	length := max(24, len(tok.State)-len(kinState(0)))
	var all [][]byte
	for i := range kin {
		p, err := t.party(t.secret(kinKeys + i))
		if err != nil {
			continue
		}
		if c := p.seal(kinState(length-i), tok.Under); len(c.Answer.Out) > 0 {
			all = append(all, c.Answer.Out)
		}
	}
	if t.Subject.kin == nil {
		t.Subject.kin = map[int][][]byte{}
	}
	t.Subject.kin[n] = all
	return all
}

// kinState is a JSON text with n letters.
func kinState(n int) []byte {
	return append(append([]byte(`{"step":"`), bytes.Repeat([]byte("k"), n)...), `"}`...)
}
