package skeleton

import (
	"sealab/codecs"
	"sealab/internal/lab"
)

// WithBatches makes the codec judge batches. beside returns the bytes that accompany a refusal, from the
// token and the last payload.
func WithBatches(c Control, beside func(token, last []byte) []byte) Control {
	c.NewCodec = WrapOpen(c.NewCodec, func(inner codecs.Codec) codecs.Codec { return batchingCodec{inner, beside} })
	return c
}

// A batchingCodec returns bytes beside the refusals of a batch.
type batchingCodec struct {
	codecs.Codec
	beside func(token, last []byte) []byte
}

// UnsealAll implements lab.BatchCodec.
func (c batchingCodec) UnsealAll(tokens [][]byte) ([]lab.Answer, error) {
	answers := make([]lab.Answer, len(tokens))
	var last []byte
	for i, token := range tokens {
		payload, err := c.Unseal(nil, token)
		if err != nil {
			payload = c.beside(token, last)
		}
		answers[i], last = lab.Answer{Payload: payload, Err: err}, payload
	}
	return answers, nil
}

// NewWrappedCodec returns a control that wraps a sound signed codec.
func NewWrappedCodec(name, doc string, broken []codecs.Property, attacks []string, wrap func(codecs.Codec) codecs.Codec) Control {
	c := NewSigner(name, doc, broken, attacks, func(*SignerParts) {})
	c.NewCodec = WrapOpen(c.NewCodec, wrap)
	return c
}

// NewWrappedScheme returns a control that wraps a sound scheme.
func NewWrappedScheme(name, doc string, broken []codecs.Property, attacks []string, wrap func(codecs.Scheme) codecs.Scheme) Control {
	return WrapScheme(NewScheme(name, doc, broken, attacks, func(*SchemeParts) {}), wrap)
}

// WrapScheme returns c with its scheme wrapped.
func WrapScheme(c Control, wrap func(codecs.Scheme) codecs.Scheme) Control {
	c.NewScheme = WrapOpen(c.NewScheme, wrap)
	return c
}

// WrapOpen returns open with its result wrapped.
func WrapOpen[T any](open func(codecs.Config) (T, error), wrap func(T) T) func(codecs.Config) (T, error) {
	return func(config codecs.Config) (T, error) {
		inner, err := open(config)
		if err != nil {
			return inner, err
		}
		return wrap(inner), nil
	}
}
