package broken

import (
	"sync"

	"sealab/codecs"
)

// usedOnce returns a wrapper whose schemes share one list of used tokens, and accept each token once in
// each scope.
func usedOnce(scope func(*codecs.Context) string) func(codecs.Scheme) codecs.Scheme {
	used := new(sync.Map)
	return func(inner codecs.Scheme) codecs.Scheme { return singleUseScheme{inner, used, scope} }
}

// A singleUseScheme is a scheme that accepts each token once in each scope.
type singleUseScheme struct {
	codecs.Scheme
	used  *sync.Map // scopes and texts of accepted tokens, shared by all instances
	scope func(*codecs.Context) string
}

// inAnyContext is the scope of tokens that are accepted once.
func inAnyContext(*codecs.Context) string { return "" }

// Verify implements codecs.Scheme.
func (s singleUseScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	if err != nil {
		return out, err
	}
	if _, before := s.used.LoadOrStore(s.scope(b)+" "+string(token), true); before {
		return dst, errUnauthentic
	}
	return out, nil
}
