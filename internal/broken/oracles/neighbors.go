package oracles

import (
	"fmt"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of refusals, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"numbered refusals": skeleton.NewSigner("nothing", "the reason of a refusal holds the number of the request", nil, nil, func(p *skeleton.SignerParts) {
			var requests atomic.Int64
			p.Refuse = func(*skeleton.Entry, []byte, []byte, []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprint("refused, request ", requests.Add(1)))
			}
		}).Design,
		"a chain of all tokens": skeleton.NewWrappedScheme("nothing", "a token holds the end of the token before of any principal", nil, nil, chainedTokens(func(*codecs.Context) string { return "" })).Design,
		"limited refusals": skeleton.NewWrappedScheme("nothing", "after eight refusals of any kind their reason is another one", nil, nil, func(inner codecs.Scheme) codecs.Scheme {
			return &limitedScheme{Scheme: inner, counts: func(codecs.Stage) bool { return true }}
		}).Design,
		"quoted tokens": skeleton.WithBatches(skeleton.NewSealer("nothing", "in a batch, a refusal carries the token", nil, nil, func(*skeleton.SealerParts) {}),
			func(token, _ []byte) []byte { return token }).Design,
		"named keys": skeleton.NewSigner("nothing", "the reason of a refusal holds the key ID, which the token shows", nil, nil, func(p *skeleton.SignerParts) {
			p.Refuse = func(e *skeleton.Entry, _, _, _ []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("wrong tag under the key %x", e.ID))
			}
		}).Design,
	}
}
