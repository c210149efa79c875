package differential

import (
	"errors"
	"fmt"
	"io"

	"sealab/codecs"
)

// A side is one of the two implementations, open under one configuration.
// Exactly one of codec and scheme is set.
type side struct {
	name   string
	codec  codecs.Codec
	scheme codecs.Scheme
}

func openSide(d codecs.Design, c codecs.Config) (s side, err error) {
	s.name = d.Name
	if d.IsScheme() {
		s.scheme, err = d.OpenScheme(c)
	} else {
		s.codec, err = d.OpenCodec(c)
	}
	return s, err
}

// at returns the side as a codec, in a context where it is a scheme.
func (s side) at(c context) codecs.Codec {
	if s.scheme == nil {
		return s.codec
	}
	return codecs.Bound{Scheme: s.scheme, Binding: &c.binding, Now: c.now}
}

// judge returns the side's verdict on each token. Where a batch as a whole
// comes to a fault, its tokens are judged one by one, and one that is at fault
// has the fault for its verdict.
func (s side) judge(tokens [][]byte, c context) ([]codecs.Verdict, error) {
	verdicts, err := s.judgeBatch(tokens, c)
	if !errors.Is(err, codecs.ErrFault) {
		return verdicts, err
	}
	return s.judgeEach(tokens, c), nil
}

func (s side) judgeBatch(tokens [][]byte, c context) ([]codecs.Verdict, error) {
	if b, ok := s.scheme.(codecs.BatchScheme); ok {
		return b.VerifyAll(tokens, &c.binding, c.now)
	}
	if b, ok := s.codec.(codecs.BatchCodec); ok {
		return b.UnsealAll(tokens)
	}
	return s.judgeEach(tokens, c), nil
}

func (s side) judgeEach(tokens [][]byte, c context) []codecs.Verdict {
	verdicts := make([]codecs.Verdict, len(tokens))
	codec := s.at(c)
	for i, token := range tokens {
		verdicts[i] = unseal(codec, token)
	}
	return verdicts
}

// unseal judges one token. A panic is a fault, and the token that causes it is
// a disagreement.
func unseal(c codecs.Codec, token []byte) (v codecs.Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = codecs.Verdict{Err: fmt.Errorf("%w: panic: %v", codecs.ErrFault, p)}
		}
	}()
	v.Payload, v.Err = c.Unseal(nil, token)
	return v
}

// close lets go of what the side holds in another process. A side that fails to
// is found out by the next request.
func (s side) close() {
	for _, v := range []any{s.codec, s.scheme} {
		if c, ok := v.(io.Closer); ok {
			c.Close() //nolint:errcheck // said above
		}
	}
}
