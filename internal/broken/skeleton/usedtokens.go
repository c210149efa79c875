package skeleton

import (
	"sync"

	"sealab/codecs"
)

// UsedOnce returns a wrapper whose schemes share one list of used tokens, and accept each token once in
// each scope.
func UsedOnce(scope func(*codecs.Context) string) func(codecs.Scheme) codecs.Scheme {
	used := new(sync.Map)
	return func(inner codecs.Scheme) codecs.Scheme { return SingleUse{inner, used, scope} }
}

// A SingleUse is a scheme that accepts each token once in each scope.
type SingleUse struct {
	codecs.Scheme
	Used  *sync.Map // scopes and texts of accepted tokens, shared by all instances
	Scope func(*codecs.Context) string
}

// InAnyContext is the scope of tokens that are accepted once.
func InAnyContext(*codecs.Context) string { return "" }

// Verify implements codecs.Scheme.
func (s SingleUse) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	if err != nil {
		return out, err
	}
	if _, before := s.Used.LoadOrStore(s.Scope(b)+" "+string(token), true); before {
		return dst, ErrUnauthentic
	}
	return out, nil
}
