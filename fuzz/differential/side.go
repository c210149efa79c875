package differential

import (
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A side is one of the two implementations, open under one configuration.
type side struct {
	name string
	*lab.Instance
}

func openSide(d codecs.Design, c codecs.Config) (s side, err error) {
	s.name = d.Name
	s.Instance, err = lab.Open(d, c)
	return s, err
}

// judge returns the side's verdict on each token. Where a batch as a whole
// comes to a fault, its tokens are judged one by one, and one that is at fault
// has the fault for its verdict.
func (s side) judge(tokens [][]byte, c context) ([]lab.Answer, error) {
	verdicts, err := s.judgeBatch(tokens, c)
	if !errors.Is(err, codecs.ErrFault) {
		return verdicts, err
	}
	return s.judgeEach(tokens, c), nil
}

func (s side) judgeBatch(tokens [][]byte, c context) ([]lab.Answer, error) {
	if s.Batched() {
		return s.UnsealBatch(tokens, &c)
	}
	return s.judgeEach(tokens, c), nil
}

func (s side) judgeEach(tokens [][]byte, c context) []lab.Answer {
	verdicts := make([]lab.Answer, len(tokens))
	codec := s.At(&c)
	for i, token := range tokens {
		verdicts[i] = unseal(codec, token)
	}
	return verdicts
}

// unseal judges one token. A panic is a fault, and the token that causes it is
// a disagreement.
func unseal(c codecs.Codec, token []byte) (v lab.Answer) {
	defer func() {
		if p := recover(); p != nil {
			v = lab.Answer{Err: fmt.Errorf("%w: panic: %v", codecs.ErrFault, p)}
		}
	}()
	v.Payload, v.Err = c.Unseal(nil, token)
	return v
}

// close lets go of what the side holds in another process. A side that fails to
// is found out by the next request.
func (s side) close() {
	if s.Instance != nil {
		s.Close() //nolint:errcheck // said above
	}
}
