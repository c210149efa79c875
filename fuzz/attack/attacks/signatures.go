package attacks

import (
	"bytes"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
)

// sharedNonces looks for two tokens whose ECDSA signatures have the same r. It presents another
// body that is signed under their nonce.
func (t trial) sharedNonces(in *attack.Instance, under codecs.Context) {
	tokens := t.signedTokens(in, under)
	signatures := make([][]tokenfmt.Signature, len(tokens))
	for i, a := range tokens {
		signatures[i] = a.Format().Signatures()
		for k := range i {
			for _, one := range signatures[i] {
				for _, two := range signatures[k] {
					if one.SharesNonce(two) && t.signsAgain(in, one, two, a, tokens[k]) {
						return
					}
				}
			}
		}
	}
}

// signedTokens mints tokens that may share a nonce: at one time, for one state, and with another
// handle.
func (t trial) signedTokens(in *attack.Instance, under codecs.Context) (tokens []*attack.Token) {
	mint := func(in *attack.Instance, state []byte, c codecs.Context) {
		if tok, ok := in.Mint(state, c); ok {
			tokens = append(tokens, tok)
		}
	}
	state := t.State(24)
	mint(in, state, under)
	mint(in, t.State(24), under)
	if t.Design.IsScheme() {
		mint(in, state, attack.Later(under, 90*time.Second))
		mint(in, state, fields.Principal.Put(under, fields.Principal.Unrelated()[0]))
	}
	if other, err := t.Open(t.Secret(0)); err == nil {
		mint(other, t.State(24), under)
	}
	return tokens
}

// signsAgain presents token a with another state, or with its last byte changed, under each
// signature that follows from those of a and b. It reports whether one is accepted.
func (t trial) signsAgain(in *attack.Instance, one, two tokenfmt.Signature, a, b *attack.Token) bool {
	body := bytes.Replace(one.Body, attack.LettersOf(a.State), t.Letters(24), 1)
	if bytes.Equal(body, one.Body) {
		body = bytes.Clone(body)
		body[len(body)-1] ^= 1
	}
	t.Try(codecs.Integrity)
	call, ok := in.FirstAccepted(one.Resigned(two, body), a.Under)
	if ok {
		t.RefuteEach([]codecs.Property{codecs.Integrity, codecs.SenderAuthenticated}, attack.Accepted,
			"two ECDSA signatures share a nonce: a token that was never sealed is accepted under a signature that follows from them", b.Sealed, a.Sealed, call)
	}
	return ok
}
