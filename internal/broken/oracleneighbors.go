package broken

import (
	"fmt"
	"sync/atomic"

	"sealab/codecs"
)

// oracleNeighbors returns sound designs that resemble the controls of refusals, by name.
func oracleNeighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"numbered refusals": aSigner("nothing", "the reason of a refusal holds the number of the request", nil, nil, func(p *signerParts) {
			var requests atomic.Int64
			p.refuse = func(*entry, []byte, []byte, []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprint("refused, request ", requests.Add(1)))
			}
		}).Design,
		"quoted tokens": withBatches(aSealer("nothing", "in a batch, a refusal carries the token", nil, nil, func(*sealerParts) {}),
			func(token, _ []byte) []byte { return token }).Design,
		"named keys": aSigner("nothing", "the reason of a refusal holds the key ID, which the token shows", nil, nil, func(p *signerParts) {
			p.refuse = func(e *entry, _, _, _ []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("wrong tag under the key %x", e.id))
			}
		}).Design,
	}
}
